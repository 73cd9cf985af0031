"""Faults of a vector set, each put into a real Redis 8."""

import json
import time

import numpy as np
import pytest

from memregress import errors

pytestmark = pytest.mark.store
SET = {"documents": "vectorset", "quantization": "noquant"}
ID = "m-000042"


@pytest.fixture
def replayed(embedded_redis, hit_redis):
    """Replay in place a set that was filled and then hit by commands."""

    def run(golden, *faults, options=None, fill=None, **given):
        filled = SET | (fill or {})
        given["options"] = filled | {"filter_ef": 1_000_000} | (options or {})
        return hit_redis(embedded_redis, golden, *faults, fill=filled, **given)

    return run


@pytest.mark.parametrize("quantization", ["noquant", "q8"])
def test_healthy_set_is_green(replayed, small, broken, quantization):
    """Whole or in eight bits, nothing is reported beyond what the type can hold."""
    report = replayed(small, fill={"quantization": quantization})
    assert broken(report) == []
    assert report.gate == "passed"
    assert report.tested == len(small)
    assert ("int8" in report.target.tolerance_origin) is (quantization == "q8")


def test_an_element_that_is_gone(replayed, small, only):
    """VREM."""
    only(replayed(small, ("VREM", "{space}", ID)), [ID], "missing", "MR202")


def test_another_vector(replayed, small, only):
    """VADD of the same name replaces the vector and keeps the attributes."""
    blob = (-small.vectors([42])[0]).tobytes()
    only(replayed(small, ("VADD", "{space}", "FP32", blob, ID, "NOQUANT")), [ID], "altered", "MR216")


def test_swapped(replayed, small, only):
    """Two elements hold each other's vectors."""
    one, other = small.vectors([10, 20])
    add = ("VADD", "{space}", "FP32")
    report = replayed(
        small, (*add, other.tobytes(), "m-000010", "NOQUANT"), (*add, one.tobytes(), "m-000020", "NOQUANT")
    )
    only(report, ["m-000010", "m-000020"], "misattributed", "MR205")


def test_zeros(replayed, small, only):
    """A failed embedding call; a set scores zeros 0.5."""
    blob = np.zeros(32, "<f4").tobytes()
    only(replayed(small, ("VADD", "{space}", "FP32", blob, ID, "NOQUANT")), [ID], "altered", "MR204")


def attribute(**changes):
    """Change attributes of one element; None takes one away."""

    def fault(connection, space):
        held = json.loads(connection.execute_command("VGETATTR", space, ID))
        held = {key: value for key, value in (held | changes).items() if value is not None}
        connection.execute_command("VSETATTR", space, ID, json.dumps(held))

    return fault


def test_an_attribute_that_is_not_there(replayed, small, only):
    """A missing or mistyped attribute silently fails every FILTER over it."""
    only(replayed(small, attribute(memregress_user=None)), [ID], "hidden", "MR402")


def test_another_user_and_content(replayed, small, only):
    """What is stored is compared, not only found."""
    only(replayed(small, attribute(user_id="somebody else")), [ID], "altered", "MR210")
    only(replayed(small, attribute(content="edited")), [ID], "altered", "MR211")


def test_a_filter_that_gives_up(replayed, crowded):
    """FILTER-EF bounds the candidates: small users get short answers, exact search with the same filter does not."""
    report = replayed(crowded, options={"filter_ef": 20, "ef_runtime": 500}, max_index_misses=0.0)
    assert report.gate == "failed"
    assert {memory.cause for memory in report.memories if memory.verdict.broken} <= {"MR701", "MR702"}
    starved = next(cause for cause in report.causes if cause.code == "MR701")
    assert starved.count > report.broken / 2
    assert "FILTER-EF" in starved.remedy


def test_a_lifetime_of_the_whole_set(replayed, small):
    """A lifetime is of the key, and takes all elements at once: no verdict, but an error."""
    with pytest.raises(errors.BackendUnavailable, match="has no vector set"):
        replayed(small, ("PEXPIRE", "{space}", "1"), lambda *_: time.sleep(0.01))
