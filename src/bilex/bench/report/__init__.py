"""Reports on the results of a suite: tables, significance tests, plots."""
