"""Failures by what they have in common, for the failure inbox.

    fingerprint.py  pure: which failures are of one group
    project.py      what sweepers do: writes down how each failed run failed, after the fact
    services.py     what people do: take a group in hand, ignore it, open it again

The engine knows nothing of it: a run that failed says so by its status, and a sweeper that comes later finds it. What
was resumed before any sweeper looked leaves no failure here; its events tell of it.
"""
