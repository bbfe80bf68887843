"""Parts of methods that train by gradient descent: networks, adversaries, negatives, records, checkpoints."""
