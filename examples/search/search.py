# %% [markdown]
# # The best of eight trainings, in a notebook
#
# Each `# %%` begins a cell: VS Code and PyCharm run it as a notebook, and `jupytext --to ipynb search.py` makes one of it.
# `pip install ".[examples]" pandas` has what it imports.

# %%
from sklearn.datasets import load_digits
from sklearn.linear_model import SGDClassifier
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split

import jpo
from jpo import Range

images, digits = load_digits(return_X_y=True)
train_x, val_x, train_y, val_y = train_test_split(images / 16, digits, test_size=0.4, random_state=0)


# %% [markdown]
# A function that trains with some values and returns the validation loss. A loss that is infinite or NaN is a failed run.


# %%
def train(values):
    model = SGDClassifier(loss="log_loss", learning_rate="constant", max_iter=values["epochs"], tol=None, random_state=0)
    model.set_params(eta0=values["learning_rate"], alpha=values["alpha"])
    return log_loss(val_y, model.fit(train_x, train_y).predict_proba(val_x))


space = {
    "learning_rate": Range(1e-4, 1.0, log=True),
    "alpha": Range(1e-6, 1e-1, log=True),
    "epochs": [5, 10, 20],
}

# %% [markdown]
# The whole search. It begins in the middle of each range; `start=` says another place.

# %%
search = jpo.optimize(train, space, 8)
search.parameters

# %%
runs = search.advisor.to_dataframe()
runs.sort_values("val_loss").head()

# %% [markdown]
# Asked again, the advisor says why: after the last run of a search it answers the best of all.

# %%
suggestion = search.advisor.ask()
suggestion.reasons
