"""The golden set: a folder that records memories, and what each query must find; it is opened, written and compared."""

from memregress.golden.golden_set import GoldenSet
from memregress.golden.manifest import Manifest, Part, Policy, Vectors
from memregress.golden.reading import open_set as open  # noqa: A004  golden.open(path) is how it is read aloud
from memregress.golden.writing import write

__all__ = ["GoldenSet", "Manifest", "Part", "Policy", "Vectors", "open", "write"]
