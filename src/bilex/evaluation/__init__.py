"""Quality of a shared space: precision of translations, word similarity, hubness, significance tests."""
