"""Words and names as they are given, shown and suggested."""
