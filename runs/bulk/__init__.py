"""One operation on many runs.

    operations.py  what may be done to many runs: one entry each, with its permission, its act and its plan
    services.py    what people do: preview, begin, stop, continue
    drive.py       what sweepers do: run by run, each in one transaction with its result

A bulk operation holds nothing in memory. Its row says whether it goes on, one row a run says what became of that run:
so it goes on where it was after any death, and several sweepers never do one run twice.
"""
