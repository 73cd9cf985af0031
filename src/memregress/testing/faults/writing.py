"""What faulty migrations write: the store takes it all, and it is wrong. These occur on every store."""

from __future__ import annotations

import html
import unicodedata
from datetime import timedelta

import numpy as np

from memregress.model import Verdict
from memregress.testing.faults.changes import (
    another_model,
    another_runtime,
    bfloat16,
    byte_swapped,
    column,
    contents_swapped,
    copies,
    cut,
    every,
    expiring,
    int8,
    lifetimes_scaled,
    mojibake,
    no_vector,
    of_user,
    permuted,
    rotated,
    shifted,
    strangers,
    swappable,
    vectors,
    without,
)
from memregress.testing.faults.fault import Fault, all_of, only

ONE = 123
"""The memory that is hit where one is."""
LIVING = tuple(range(0, 1_000, 7))
"""The memories of `sets.make` that expire."""


M, A, E = Verdict.MISSING, Verdict.ALTERED, Verdict.EXPIRED

ROWS = (
    Fault(name="row-dropped", story="one row was not copied", verdict=M, cause="MR202", rows=only(ONE),
          write=without(lambda row: row == ONE)),
    Fault(name="rows-dropped", story="three rows here and there were not copied", verdict=M, cause="MR202",
          rows=only(5, 437, 881), write=without(lambda row: row in {5, 437, 881})),
    Fault(name="batch-dropped", story="one batch of 50 was not copied", verdict=M, cause="MR214",
          rows=only(*range(200, 250)), write=without(lambda row: 200 <= row < 250)),
    Fault(name="copy-broke-off", story="copying broke off at row 800", verdict=M, cause="MR214",
          rows=only(*range(800, 1_000)), write=without(lambda row: row >= 800)),
    Fault(name="pages-dropped", story="every tenth row was passed over between two pages", verdict=M, cause="MR202",
          rows=only(*every(10)), write=without(lambda row: row % 10 == 0)),
    Fault(name="user-dropped", story="one user was not copied", verdict=M, cause="MR202", rows=of_user("u_0007"),
          write=without(lambda row: row % 50 == 7)),
    Fault(name="expiring-dropped", story="whatever expires was not copied", verdict=M, cause="MR202",
          rows=only(*LIVING), write=without(lambda row: row % 7 == 0)),
    Fault(name="topic-dropped", story="a filter on metadata in the copying statement", verdict=M, cause="MR202",
          rows=only(*every(4, 1)), write=without(lambda row: row % 4 == 1)),
    Fault(name="ids-renamed", story="all ids were put in upper case", verdict=M, cause="MR215", rows=all_of,
          write=column("ids", str.upper)),
    Fault(name="ids-prefixed", story="a namespace was put before some ids", verdict=M, cause="MR215",
          rows=only(*range(40, 60)), write=column("ids", lambda id_: f"chat:{id_}", range(40, 60))),
)  # fmt: skip
VECTORS = (
    Fault(name="vector-dropped", story="one row was copied without its vector", verdict=M, cause="MR201",
          rows=only(ONE), write=no_vector([ONE])),
    Fault(name="vectors-dropped", story="a third of the rows was copied without vectors", verdict=M, cause="MR201",
          rows=only(*every(3)), write=no_vector(every(3))),
    Fault(name="zero-vector", story="a failed embedding was stored as zeros", verdict=A, cause="MR204",
          rows=only(ONE), write=vectors(np.zeros_like, [ONE])),
    Fault(name="swapped-vectors", story="two memories hold each other's vectors", verdict=Verdict.MISATTRIBUTED,
          cause="MR205", rows=only(10, 20), write=vectors(lambda v: v[::-1], [10, 20])),
    Fault(name="shifted-vectors", story="ids and vectors were zipped one apart from row 300 on",
          verdict=Verdict.MISATTRIBUTED, cause="MR205", rows=only(*range(300, 1_000)), write=vectors(shifted)),
    Fault(name="copied-vector", story="ten memories were given the vector of the first", cause="MR205",
          verdict=Verdict.MISATTRIBUTED, rows=only(*range(101, 111)),
          write=vectors(lambda v: np.broadcast_to(v[:1], v.shape), range(100, 111))),
    Fault(name="float16", story="vectors went through half precision", verdict=A, cause="MR207", rows=all_of,
          write=vectors(lambda v: v.astype(np.float16).astype(np.float32))),
    Fault(name="bfloat16", story="vectors went through bfloat16, cut off", verdict=A, cause="MR207", rows=all_of,
          write=vectors(bfloat16)),
    Fault(name="four-decimals", story="vectors went through '%.4f'", verdict=A, cause="MR207", rows=all_of,
          write=vectors(lambda v: np.round(v, 4))),
    Fault(name="int8", story="vectors went through eight-bit integers", verdict=A, cause="MR207", rows=all_of,
          write=vectors(int8)),
    Fault(name="cut-and-padded", story="vectors were cut and filled up with zeros", verdict=A, cause="MR206",
          rows=all_of, write=vectors(cut)),
    Fault(name="one-cut-and-padded", story="one vector was cut and filled up with zeros", verdict=A, cause="MR206",
          rows=only(ONE), write=vectors(cut, [ONE])),
    Fault(name="tripled", story="one vector is three times as long", verdict=A, cause="MR208", rows=only(ONE),
          write=vectors(lambda v: v * 3, [ONE])),
    Fault(name="all-rescaled", story="vectors were not normalised", verdict=A, cause="MR208", rows=all_of,
          write=vectors(lambda v: v * np.linspace(0.5, 3, len(v), dtype=np.float32)[:, None])),
    Fault(name="byte-order", story="big-endian floats were read as little-endian", verdict=A, cause="MR216",
          rows=lambda golden: swappable(golden.vectors(range(len(golden)))), write=byte_swapped,
          cannot={"faiss": "its cosine index holds unit vectors, and the length of these overflows",
                  "milvus embedded": "Milvus Lite multiplies beyond what a float holds"}),
    Fault(name="negated", story="vectors were stored with the other sign", verdict=A, cause="MR216", rows=all_of,
          write=vectors(np.negative)),
    Fault(name="reversed", story="components were stored last to first", verdict=A, cause="MR216", rows=all_of,
          write=vectors(lambda v: v[:, ::-1])),
    Fault(name="rolled", story="components are one place off", verdict=A, cause="MR216", rows=all_of,
          write=vectors(lambda v: np.roll(v, 1, axis=1))),
    Fault(name="permuted", story="components were stored in another order", verdict=A, cause="MR216", rows=all_of,
          write=vectors(permuted)),
    Fault(name="centred", story="the mean was taken off all vectors", verdict=A, cause="MR217", rows=all_of,
          write=vectors(lambda v: v - v.mean(axis=0))),
    Fault(name="rotated", story="the vectors were turned into another basis", verdict=A, cause="MR218", rows=all_of,
          write=vectors(rotated)),
    Fault(name="another-model", story="all memories were embedded with another model", verdict=A, cause="MR218",
          rows=all_of, write=vectors(another_model)),
    Fault(name="embedding-broke-off", story="embedding with another model broke off at 40 %", verdict=A,
          cause="MR218", rows=only(*range(400)), write=vectors(another_model, range(400))),
    Fault(name="another-runtime", story="all memories were embedded anew on another runtime", verdict=A,
          cause="MR218", rows=all_of, write=vectors(another_runtime)),
    Fault(name="one-altered", story="one memory was edited and embedded anew", verdict=A, cause="MR209",
          rows=only(ONE), write=vectors(another_model, [ONE])),
)  # fmt: skip
FIELDS = (
    Fault(name="wrong-user", story="one memory was given to another user", verdict=A, cause="MR210", rows=only(42),
          write=column("users", lambda _: "u_0001", [42])),
    Fault(name="user-lost", story="every seventh row lost its user", verdict=A, cause="MR210", rows=only(*LIVING),
          write=column("users", lambda _: None, LIVING)),
    Fault(name="users-upper-case", story="user ids were put in upper case", verdict=A, cause="MR219", rows=all_of,
          write=column("users", lambda user: user and user.upper())),
    Fault(name="users-merged", story="two users were merged into one", verdict=A, cause="MR219",
          rows=of_user("u_0007"), write=column("users", lambda user: "u_0008" if user == "u_0007" else user)),
    Fault(name="content-emptied", story="the content of one memory is empty", verdict=A, cause="MR211",
          rows=only(ONE), write=column("contents", lambda _: "", [ONE])),
    Fault(name="content-cut", story="contents were cut to 20 characters", verdict=A, cause="MR211", rows=all_of,
          write=column("contents", lambda text: text[:20])),
    Fault(name="content-escaped", story="contents were escaped for HTML", verdict=A, cause="MR211", golden="texts",
          rows=all_of, write=column("contents", html.escape)),
    Fault(name="content-mojibake", story="UTF-8 was read as Latin-1", verdict=A, cause="MR211", golden="texts",
          rows=all_of, write=column("contents", mojibake)),
    Fault(name="content-composed", story="contents were brought into another Unicode form", verdict=A, cause="MR211",
          golden="texts", rows=all_of, write=column("contents", lambda text: unicodedata.normalize("NFD", text))),
    Fault(name="content-trimmed", story="white space round contents was stripped", verdict=A, cause="MR211",
          golden="texts", rows=all_of, write=column("contents", str.strip)),
    Fault(name="swapped-contents", story="two memories hold each other's texts", verdict=Verdict.MISATTRIBUTED,
          cause="MR205", rows=only(10, 11), write=contents_swapped(10, 11)),
    Fault(name="metadata-typed", story="numbers in metadata became texts", verdict=A, cause="MR212", rows=all_of,
          write=column("metadata", lambda document: {**document, "number": str(document["number"])})),
    Fault(name="metadata-key-lost", story="one key of the metadata is gone", verdict=A, cause="MR212", rows=all_of,
          write=column("metadata", lambda document: {k: v for k, v in document.items() if k != "topic"})),
    Fault(name="metadata-lost", story="one memory lost its metadata", verdict=A, cause="MR212", rows=only(ONE),
          write=column("metadata", lambda _: {}, [ONE])),
)  # fmt: skip
LIFETIMES = (
    Fault(name="lifetime-shortened", story="one memory expires five hours early", verdict=E, cause="MR301",
          rows=only(7), write=column("expires_at", lambda time: time - timedelta(hours=5), [7])),
    Fault(name="lifetimes-lost", story="expiry times were not copied", verdict=E, cause="MR302", rows=only(*LIVING),
          write=column("expires_at", lambda _: None)),
    Fault(name="lifetime-gained", story="everything was given an expiry", verdict=E, cause="MR302", write=expiring,
          rows=lambda golden: [row for row in range(len(golden)) if row % 7]),
    Fault(name="time-zone", story="local time was written as UTC", verdict=E, cause="MR303", rows=only(*LIVING),
          write=column("expires_at", lambda time: time and time - timedelta(hours=8))),
    Fault(name="lifetimes-scaled", story="all lifetimes are a tenth", verdict=E, cause="MR304", rows=only(*LIVING),
          write=lifetimes_scaled),
)  # fmt: skip
OTHERS = (
    Fault(name="crowded-out", story="copies of one memory were imported under other ids", verdict=Verdict.OUTRANKED,
          cause="MR602", write=copies(5, near=13)),
    Fault(name="strangers", story="rows that are no memories lie in the same table", write=strangers(200)),
    Fault(name="times-moved", story="all memories say that they were created 8 hours earlier", concern="MR804",
          write=column("created_at", lambda time: time - timedelta(hours=8))),
    Fault(name="healthy", story="nothing is wrong"),
)  # fmt: skip

FAULTS: tuple[Fault, ...] = (*ROWS, *VECTORS, *FIELDS, *LIFETIMES, *OTHERS)
