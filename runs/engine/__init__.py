"""Use cases of the engine, one a file. Each is one transaction, a pure function of (step run, fence) or of a command
id, and may be repeated after any error, a lost reply to COMMIT included.

    definitions.py  a version's graph, indexed and kept
    transact.py     begin on the locked run; what is told to others after the commit
    commands.py     a person's act, once, by the id that their client made
    start.py  claim.py  finish.py  checkpoint.py  resume.py  cancel.py  wait.py  decide.py  sweep.py
"""
