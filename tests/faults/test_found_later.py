"""A row of Milvus that was written while the replay runs, and that searches below `Strong` do not see yet."""

import contextlib
import time

import pytest

from memregress import instances, selftest
from memregress.backends import registry
from memregress.backends.milvus import connection
from memregress.model import Verdict
from memregress.testing import faults, sets

ID = "m-000042"


def count(client, place):
    """Rows with the id, as they are."""
    found = client.query(place.space, filter=f'id == "{ID}"', output_fields=["count(*)"], consistency_level="Strong")
    return found[0]["count(*)"]


@pytest.mark.docker
def test_a_row_that_is_not_visible_yet(container_milvus, tmp_path):
    """It is told from a row that an index misses, and does not fail the gate by itself."""
    places = []
    fault = faults.Fault(
        name="written-meanwhile",
        story="a row was written while the replay runs",
        verdict=Verdict.UNREACHABLE,
        cause="MR707",
        rows=faults.only(42),
        options={"consistency": "eventually"},
        harm=lambda place, _: places.append(place),
    )

    def listen(progress):
        if progress.stage != "probe" or progress.done:
            return
        with contextlib.closing(connection.connect(container_milvus)) as client:
            (place,) = places
            (row,) = client.query(place.space, filter=f'id == "{ID}"', output_fields=["*"], consistency_level="Strong")
            client.delete(place.space, ids=[ID])
            while count(client, place):
                time.sleep(0.1)
            client.insert(place.space, [dict(row)])

    recorded = sets.make(tmp_path / "set", **selftest.SETS["small"])
    target = instances.choose(registry.find("milvus"), url=container_milvus)
    report = selftest.inject(fault, target, container_milvus, recorded, tmp_path, progress=listen)
    assert [(memory.id, memory.verdict, memory.cause) for memory in report.memories] == [
        (ID, Verdict.UNREACHABLE, "MR707")
    ]
    assert report.gate.value == "passed"
    (found,) = report.causes
    assert "consistency = eventually" in "\n".join(found.evidence)
    assert "consistency_level='Session'" in found.remedy
