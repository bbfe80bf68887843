"""How good a shared space is: precision of translations, word similarity, hubness."""
