"""The second stage: the best candidates of a word ranked by all that is known of them, each with a probability.

    mapped tables, train pairs            words to translate
            |                                     |
            v                                     v
    evidence.py  ---------------------->  candidates.py    the best by CSLS, with the figures of the search
            |                                     |
            v                                     v
    features.py      the columns (q, c) of all signals     signals/ has one file for each
            |
            v
    ranker.py        a weighted sum of the columns, listwise softmax
            |
            v
    calibration.py   its score as a probability
            |
            v
    any_right.py     the probability that any of the first candidates is right

    reranker.py      all of it, fitted: `Reranker.bind` and `rank`
    learning.py      its settings; fits it, and decides whether it is used
    cross_fitting.py candidates and columns of words that no mapping was trained on
    summary.py       figures over these words

Signals are computed from words by letters.py (words as numbers, edit distance, scripts), ngrams.py (sparse vectors of
n-grams) and transducer.py (letters that correspond, learnt by EM). Both calibrations are learnt by logistic.py.
"""
