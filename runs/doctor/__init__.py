"""What somebody should know before a draft is published: its problems, and whether what the runs will need is there."""
