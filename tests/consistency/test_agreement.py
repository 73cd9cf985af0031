"""All stores answer alike: the command behind docs/agreement.md, run."""

import importlib.util
import sys

import pytest

from memregress.backends import registry
from memregress.model import Metric


@pytest.mark.store
def test_every_store_ranks_alike(root, tmp_path):
    """For every metric and store each ranking is that of exact computation, and similarities agree to float32."""
    spec = importlib.util.spec_from_file_location("agreement", root / "docs" / "agreement.py")
    agreement = importlib.util.module_from_spec(spec)
    sys.modules["agreement"] = agreement  # where dataclasses look for it
    spec.loader.exec_module(agreement)
    found = list(agreement.compared(tmp_path))
    assert {(one.metric, one.store) for one in found} == {(m, s) for m in Metric for s in registry.BACKENDS}
    assert [one for one in found if one.equal != one.searches or not one.difference < 2e-6] == []
    page = (root / "docs" / "agreement.md").read_text(encoding="utf-8")
    assert all(f"| {one.metric} | {one.store} | 1,000 of 1,000 |" in page for one in found)
