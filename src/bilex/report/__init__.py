"""A report on one run: what was aligned, how good it is and how sure that is, and what to look at by hand."""
