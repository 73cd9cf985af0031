"""GitHub's side of the Action: what a run knows of its event, and the commands of its log."""
