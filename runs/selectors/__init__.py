"""Questions about runs: lists and snapshots (runs), one step (steps), open questions to people (waits)."""
