"""Ways to find phases. All of them end in the same chain over scaled samples, so that filter, forecast and requests are the same.

markov       levels by k-means, a sticky chain on top (the default; ../markov.py)
hmm          a Gaussian hidden Markov model whose means move, by hmmlearn (hmm.py)
changepoint  segments by ruptures, levels of the segments by k-means (changepoint.py)
crbm-kmeans  a conditional restricted Boltzmann machine and k-means on its hidden units, as AI4DL's (crbm.py)
"""
