#!/opt/memregress/bin/python
"""What the container runs, by the name it is called: the action, ``publish``, or ``cleanup`` after the job."""

import os
import pathlib
import sys

name = pathlib.Path(sys.argv[0]).name
if name == "publish":
    from memregress.publish import main
elif name == "cleanup":
    from memregress.action import clean_up as main
else:
    from memregress.action import main

sys.exit(main(os.environ))
