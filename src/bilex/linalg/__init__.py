"""Closed-form solutions and matrix decompositions that several methods use.

procrustes.py      orthogonal map between paired rows      least_squares.py   linear regression, with a ridge
householder.py     orthogonal matrices by reflections      bilinear.py        regression of pairs on both vectors
whitening.py       roots of second-moment matrices         transport.py       entropic optimal transport
"""
