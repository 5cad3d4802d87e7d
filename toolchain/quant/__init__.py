"""From float ranges to int8: calibration and quantisation."""
