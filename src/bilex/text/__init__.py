"""Words and names: checked when given, escaped when shown, suggested when mistyped."""
