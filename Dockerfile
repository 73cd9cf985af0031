# The action's image. A release pins BASE by digest: --build-arg BASE=debian:trixie-slim@sha256:…
ARG BASE=debian:trixie-slim

FROM ${BASE} AS python
RUN apt-get update -qq \
    && apt-get install -y -qq --no-install-recommends python3 ca-certificates >/dev/null \
    && rm -rf /var/lib/apt/lists /var/cache/apt /usr/share/doc /usr/share/man /usr/share/locale /usr/lib/python3/dist-packages

FROM python AS build
WORKDIR /src
RUN apt-get update -qq && apt-get install -y -qq --no-install-recommends binutils python3-venv >/dev/null
COPY pyproject.toml README.md LICENSE ./
COPY src ./src
# Without bytecode, tests, symbols, the highlighter that only tracebacks use, and the demo's golden set: the image is
# pulled in every job that uses it.
RUN python3 -m venv /opt/memregress \
    && /opt/memregress/bin/pip install --no-cache-dir --no-compile '.[action]' \
    && find /opt/memregress -depth -type d \( -name tests -o -name __pycache__ -o -name pygments -o -name pip \) -exec rm -rf {} + \
    && find /opt/memregress \( -name '*.pyi' -o -path '*/memregress/data/*' \) -delete \
    && find /opt/memregress -name '*.so*' -type f -exec strip --strip-unneeded {} +

FROM python
COPY --from=build /opt/memregress /opt/memregress
COPY entrypoint.py /entrypoint.py
RUN ln -s /entrypoint.py /cleanup && ln -s /entrypoint.py /publish
# No USER: the runner mounts files that only root may write. No shell in between: it would drop INPUT_FAIL-ON.
ENTRYPOINT ["/opt/memregress/bin/python", "/entrypoint.py"]
