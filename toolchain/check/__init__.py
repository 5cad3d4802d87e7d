"""Is the code right, and is the quantisation good: reference, metrics and verdict."""
