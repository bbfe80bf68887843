"""The second stage: the best candidates of a word ranked by all that is known of them, each with a probability.

mapped tables, train pairs            words to translate
        |                                     |
        v                                     v
evidence.py  ---------------------->  candidates.py    the best by CSLS, with the figures of the search
        |                                     |
        v                                     v
signals/     one file each: columns (q, c) of what a signal says of each candidate
                                              |
                                              v
ranker.py    a weighted sum of the columns, listwise softmax      calibration.py    its score as a probability
                                              |
                                              v
reranker.py  all of it, fitted: `Reranker.rank`; cross_fitting.py fits it to words that no mapping was trained on
"""
