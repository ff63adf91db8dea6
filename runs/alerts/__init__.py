"""Who is told of what: by mail, or by a signed request.

    facts.py      what happened that a rule tells of: found by the sweeper, each once, by its key
    letter.py     what a delivery says (pure)
    deliver.py    facts of a rule become one delivery; it is sent after its commit, and again until it is taken
    post.py       the mail and the request themselves
    services.py   what people do to rules: permission, act, audit
    selectors.py  what they see of them
    sweep.py      the sweeper's share

The engine knows nothing of this room: it is asked, never changed. A delivery that was sent by somebody who died before
noting it is sent again, under the same id.
"""
