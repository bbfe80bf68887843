"""RAPO: an adaptive ranking paradigm for bilingual lexicon induction (Tian, Li, Ren et al., EMNLP 2022).

Where each part of the paper is:

    section 3, overview                         rapo.py        the method: its settings, and `fit`
    section 3.1, personalized adapter           context.py     x̄, the mean of a word and its neighbours
                                                adapter.py     x̃ = unit(x + σ(x̄ W))
    section 3.2, Householder projection         towers.py      adapter and projection of one language
                                                bilex/linalg/householder.py   products of reflections (HP)
                                                start.py       Theorem 1: reflections for any orthogonal matrix
    section 3.3, ranking-oriented objective     objective.py   the losses L_r, L_m and L2, and their weights
                                                ranking.py     hard and random negatives, CSLS scores of a batch
                                                penalties.py   the CSLS penalties r(x) and r(z) of whole tables
                                                hard_negatives.py   the wrong words with the highest scores
    section 3.4, training paradigm              learner.py     both towers during training: losses, dev figures
                                                schedule.py    epochs, learning rate, early stopping, checkpoints
    Algorithm 1, lines 13 to 15                 rapo_semi.py   self-learning with the pairs found between rounds

Not in the paper: rapo_unsupervised.py (without a dictionary), the start from a linear map (start.py; best_start.py
chooses among several; the paper's own start is `start=random`), shift.py (a shift of each word after the towers) and
mapping.py, which is what `fit` returns. Other deviations are named at their settings in rapo.py. The presets `paper`
and `authors` are in bilex/settings/presets.toml.
"""
