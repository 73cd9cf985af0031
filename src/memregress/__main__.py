"""`python -m memregress`."""

from memregress.cli import main

main()
