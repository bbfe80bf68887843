"""Exact neighbour search: the n largest of q · k + b per query, over all keys, under a memory budget.

Scores are matrix products, made block by block; the whole matrix never exists. Most of the time goes into products in
float32, so a large search first makes them in fewer bits, where the processor has fast instructions for that:

    queries (q, d), keys (m, d), bias (m,)
                  |
                  v
    shortlist     more than n keys per query, by scores in low precision         int8.py, then bfloat16.py
                  |
                  v
    rescore       exact scores of the shortlist, in float32; the n best stay     products.py
                  |
                  v
    prove         upper bound of every key that is not on the shortlist
                  |         |
           n-th best > bound    else: unproven
                  |         |
                  v         v
               result     the next precision (int8 -> bfloat16), at last float32 in full

If most of the first queries stay unproven, the precision is given up at once. The answers are exact: low precision
changes how long a search takes, never what it finds.

    topk.py             the entry: `topk` in one direction, `topk_both` in both directions from one product
    problem.py          what is searched: queries, keys, n, bias, warm start
    shortlist.py        shortlist, rescore, prove, fall back
    low_precision.py    what a low precision has to offer; int8.py and bfloat16.py have it
    speedup.py          what a low precision gains on this machine, timed once
    full_precision.py   float32 in full, ties resolved by index
    blocks.py, lists.py products in blocks; the best so far of every query, one block after the other

Around it: with_bias.py (best key under a bias, from the nearest neighbours), ranks.py (rank of the gold key),
above_threshold.py (all pairs of rows above a cosine). Not exact: clusters.py (k-means; neighbours from a few clusters),
approximate.py (near keys by scores in bfloat16 alone). smoothing.py: weighted means over the nearest keys.
"""
