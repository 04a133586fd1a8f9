"""What one can do with pools, one file a verb. Yields progress and returns results; never prints and never asks."""
