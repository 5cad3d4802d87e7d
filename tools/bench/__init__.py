"""Measurements in the emulator: whole models (docs/bench.json) and single kernels (costs.json)."""
