"""Word pairs that no dictionary gave: induced between two mapped tables, or from the tables alone.

induction.py      pairs by CSLS between two mapped tables, with a confidence for each
confidence.py     how many of the most confident pairs to take, judged on dev
neighbours.py     nearest neighbours of all words of both tables
score_dropout.py  stochastic induction: most scores are dropped at random
initial.py        first pairs without a dictionary: identical spelling, numerals, similarity profiles
cliques.py        groups of similar words, whose similarity profiles are aligned in place of words
"""
