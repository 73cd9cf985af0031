"""Renderers: a report, and anything else people read, as text for one place each."""
