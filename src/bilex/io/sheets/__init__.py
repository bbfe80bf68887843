"""Dictionaries out of spreadsheets: workbooks and delimited text, what they mean, and sheets for a review."""
