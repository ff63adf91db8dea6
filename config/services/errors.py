class ServiceProblem(Exception):
    """A step of `make run` failed. The message says what, and what to do about it."""
