"""Fast kernels against their oracles."""
