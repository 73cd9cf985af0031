"""memregress: the check that a memory store still remembers."""

__version__ = "0.1.0"
