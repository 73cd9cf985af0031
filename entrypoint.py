#!/opt/memregress/bin/python
"""What the action's container runs; under the name ``cleanup``, after the job, the removal of what a cancel left."""

import os
import sys

from memregress import action

sys.exit((action.clean_up if sys.argv[0].endswith("cleanup") else action.main)(os.environ))
