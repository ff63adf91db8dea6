"""Rows <-> core: the only place that writes runs and step runs. Hand-written statements, each named.

    read.py   rows under the run's lock (or in one snapshot, for previews)
    write.py  one statement that writes a whole transition
    claim.py  one statement that gives a worker its next step
    fleet.py  workers and sweepers: heartbeats, deaths, what falls due

Every function takes an open psycopg connection inside a transaction that the caller began, unless it says otherwise.
"""
