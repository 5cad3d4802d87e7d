"""Tests of cmsis_glue, kernel by kernel."""
