"""How a workspace, or one workflow, has done of late.

    roll.py       the sweeper's share: how many runs each hour started, by how they stand
    statements.py every question as a statement with its index and its bound
    page.py       the answers put together, for whoever may see them

Counts are exact: sums of whole hours that are made anew when one of their runs changed, and the youngest runs counted
one by one (docs/decisions/0011-hours-are-summed-anew.md). Durations and what resume saved are read from bounded
samples, and say so.
"""
