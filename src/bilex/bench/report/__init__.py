"""Reports on the results of a suite: tables, tests of significance, plots."""
