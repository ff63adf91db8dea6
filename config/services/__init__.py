"""What Pawl needs around it on one machine: PostgreSQL, Redis (as Valkey) and its own processes, kept under `.pawl/`.

Nothing in here imports Django: the servers must stand before the settings can be read.
"""
