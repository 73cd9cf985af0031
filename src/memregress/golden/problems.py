"""All problems of a golden set at once, and a bound on how many, so that a hostile set cannot fill memory."""

from __future__ import annotations

from memregress import errors
from memregress.render import terminal

LIMIT = 1_000
"""Reading stops at this many problems: whoever has mended a thousand lines can run it again."""

_FIELD_LIMIT = 100
_WHAT_LIMIT = 300

LFS_REMEDY = "The vectors are still in Git LFS. Fetch them: git lfs pull (in GitHub's checkout action: `lfs: true`)."


class Problems:
    """Collects the problems of one golden set; raises them when asked, or when there are `LIMIT` of them."""

    def __init__(self, shown_as: str) -> None:
        self._shown_as = shown_as
        self._found: list[errors.Problem] = []
        self._remedy = ""

    def __len__(self) -> int:
        return len(self._found)

    def add(self, what: str, *, file: str, line: int | None = None, field: str | None = None, remedy: str = "") -> None:
        """Note one problem. The first remedy of its own replaces the general one.

        Names and words may be the set's own: control characters are escaped, and length is bounded.
        """
        field = None if field is None else terminal.plain(field, limit=_FIELD_LIMIT)
        what, file = terminal.plain(what, limit=_WHAT_LIMIT), terminal.plain(file, limit=_WHAT_LIMIT)
        self._found.append(errors.Problem(file=file, line=line, field=field, what=what))
        self._remedy = self._remedy or remedy
        if len(self._found) >= LIMIT:
            self._stop()

    def _stop(self) -> None:
        stop = errors.Problem(file=self._shown_as, what=f"stopped reading after {LIMIT:,} problems")
        raise errors.GoldenError(self._shown_as, [*self._found, stop], self._remedy)

    def raise_any(self) -> None:
        """Raise one `GoldenError` with all problems, if there is any."""
        if self._found:
            raise errors.GoldenError(self._shown_as, self._found, self._remedy)
