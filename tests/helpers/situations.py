"""The situations a reader of the comment can be in, each as the outcomes of one run."""

from datetime import UTC, datetime

import msgspec

from memregress import report
from memregress.legs import Leg
from memregress.measures import Measures
from memregress.model import IndexInfo, Metric, Verdict
from memregress.render.facts import Facts
from memregress.report import Gate

TOTAL = 12_431
NOW = datetime(2026, 1, 1, tzinfo=UTC)
BASELINE = report.BaselineReport(name="main@4e7d9a2", kind="exact", counts={"ok": TOTAL}, tested=TOTAL)
TEXTS = ("Allergic to penicillin: tell every doctor", "Order 4711 is on its way to Graz", "Prefers the aisle seat")
FACTS = Facts(
    texts=True,
    salt="org/app",
    golden="tests/golden",
    options=["--image", "pgvector/pgvector:pg16"],
    run_url="https://github.com/org/app/actions/runs/17733",
    subject="this pull request",
    tested="tested: merge of 9c1f0be into main@4e7d9a2",
    head="9c1f0be",
)


def cause(code, name, count, evidence, remedy):
    return report.CauseReport(
        code=code, name=name, title="", count=count, evidence=evidence, remedy=remedy, docs="https://example.com"
    )


def memory(number, verdict, code, *, expected=(1, 0.913), got=(None, None), note=None, new=True):
    return report.MemoryReport(
        id=f"mem_{0x8F3A21 + 7919 * number:06x}",
        user=f"u_{number % 211:04d}",
        verdict=verdict,
        cause=code,
        search="self-probe",
        expected=report.Observed(rank=expected[0], similarity=expected[1]),
        got=report.Observed(rank=got[0], similarity=got[1], note=note),
        new=new,
        file="memories.jsonl",
        line=12_001 + number,
        snippet=TEXTS[number % 3] if number < 200 else None,
    )


def document(memories=(), causes=(), *, gate=Gate.PASSED, baseline=BASELINE, backend="pgvector", **given):
    """A report; broken memories are counted by verdict."""
    broken = [one for one in memories if one.verdict.broken]
    counts = {str(verdict): sum(one.verdict is verdict for one in memories) for verdict in Verdict}
    counts["ok"] = TOTAL - len(memories)
    nothing = dict.fromkeys(field for field in Measures.__struct_fields__ if field != "queries")
    servers = {"pgvector": "PostgreSQL 16.14, pgvector 0.8.5", "faiss": "FAISS 1.15.1"}
    new = None if baseline is None else sum(bool(one.new) for one in broken)
    made = report.Report(
        memregress="0.1.0", created_at=NOW, gate=gate, reason="as told", fail_on=report.FailOn.REGRESSION,
        baseline=baseline, counts=counts, tested=TOTAL, total=TOTAL, broken=len(broken), new_broken=new,
        fixed=None if baseline is None else 0, memories=list(memories), causes=list(causes), concerns=[], notes=[],
        measures=Measures(queries=0, **nothing), users={},
        timings={"start": 6.2, "load": 1.1, "index": 14.8, "probe": 12.4},
        golden=report.GoldenReport(
            name="support-bot", digest="d", memories=TOTAL, queries=812, dimensions=1536, metric="cosine", model=None,
            captured_at=NOW,
        ),
        target=report.TargetReport(
            backend=backend, instance="container pgvector/pgvector:pg16", space="s", in_place=False,
            index=IndexInfo(
                server=servers[backend], location="s.memories", rows=TOTAL, stored_as="float32", metric=Metric.COSINE,
                kind="hnsw",
            ),
            index_searches=TOTAL, searches=TOTAL, index_checked=0, index_checked_found=0, tolerance=1e-6,
            tolerance_origin="float32",
        ),
    )  # fmt: skip
    return msgspec.structs.replace(made, **given)


def null_vector(count=1, **given):
    """Memories whose vectors were lost."""
    evidence = ["in app.memories the vector is NULL: no index holds it, and no search finds it"]
    remedy = "UPDATE app.memories SET embedding = legacy_embedding\nWHERE id IN ('mem_8f3a21');"
    lost = [memory(number, Verdict.MISSING, "MR201", note="a row without a vector") for number in range(count)]
    return document(lost, [cause("MR201", "null-vector", count, evidence, remedy)], gate=Gate.FAILED, **given)


def wrong_metric(count=11_902):
    """A whole store built for another metric."""
    hit = [
        memory(number, Verdict.OUTRANKED, "MR102", got=(7 + number % 5, -1.0 - number % 7 / 10))
        for number in range(count)
    ]
    evidence = [
        "the index app.memories_embedding_idx is built with vector_l2_ops, the golden set is for cosine",
        "searched exactly with cosine, 500 of 500 sampled memories come back at their rank: the data is intact",
    ]
    remedy = (
        "DROP INDEX app.memories_embedding_idx;\nCREATE INDEX ON app.memories USING hnsw (embedding vector_cosine_ops);"
    )
    return document(hit, [cause("MR102", "wrong-metric", count, evidence, remedy)], gate=Gate.FAILED)


def no_store():
    """A store that did not start."""
    return report.Failure(
        memregress="0.1.0", created_at=NOW, kind="InstanceError", exit_code=3, backend="pgvector",
        message="container pgvector/pgvector:pg16 died with exit code 137",
        remedy="It was killed, most likely for want of memory; give Docker, or the machine, more.",
        log=["LOG:  starting PostgreSQL 16.14", "LOG:  database system was shut down at 09:14", "Killed"],
    )  # fmt: skip


def moved(count=214):
    """Memories within their tolerances, though not where they were."""
    return document(
        [memory(number, Verdict.TOLERATED, None, got=(2, 0.901), new=None) for number in range(count)],
        golden_change=report.GoldenChange(
            added=12,
            removed=1,
            changed=0,
            loosened=2,
            samples=[
                "q-17: mem_77e5b8: max_rank raised from 5 to 10",
                "policy: rank_tolerance raised from 0 to 2",
                "mem_00aa12 is removed",
            ],
        ),
    )


SITUATIONS = {
    "green": [Leg(name="pgvector", outcome=document())],
    "one-broken": [Leg(name="pgvector", outcome=null_vector())],
    "systemic": [Leg(name="pgvector", outcome=wrong_metric())],
    "no-store": [Leg(name="pgvector", outcome=no_store())],
    "moved": [Leg(name="pgvector", outcome=moved())],
    "first-run": [Leg(name="pgvector", outcome=document(baseline=None))],
    "several-stores": [
        Leg(name="pgvector", outcome=null_vector()),
        Leg(name="faiss", outcome=document(backend="faiss")),
        Leg(name="pgvector-0.7", outcome=no_store()),
        Leg(name="staging", outcome=None),
    ],
}
