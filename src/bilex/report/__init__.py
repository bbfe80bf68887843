"""A report on one run: its inputs, its accuracy with confidence intervals, and examples to check by hand."""
