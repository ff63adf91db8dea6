"""What starts runs without a person: schedules, webhooks, another workflow's end.

    shapes.py     a trigger's settings, checked by kind
    ledger.py     the rows of the ledger: one for each tick, delivery and end of a run, whatever happens twice
    fire.py       a firing becomes a run, in one transaction, or is kept as failed with its reason
    schedule.py   ticks by the database's clock; missed ones; what waits for an earlier run
    webhook.py    a delivery: who sent it, whether it came before; signature.py the check of its signature
    run_end.py    runs that another one's end starts; mapping.py their input; answer.py what a run answers
    services.py   what people do to triggers: permission, act, audit
    selectors.py  what they see of them
    sweep.py      the sweeper's share

The engine knows nothing of this room, but for a run's end, which adds its firings in its own transaction
(runs/store/parts.py).
"""
