"""Benchmarks: suites of systems and directions, their results, and reports on them."""
