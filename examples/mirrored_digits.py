"""Digits of which half are mirrored, from those that ship with scikit-learn, as two NPZ files for `invar`.

Upright digits to learn from, turned ones to be tested on; the label is the digit and whether it is mirrored. Then:

    invar init --data mirrored.npz
    # in invar.toml: test = "turned.npz", candidates = ["turn=rot90(1,2)", "mirror=flip(2)"], learner = "screen", epochs = 20
    invar train invar.toml

docs/results.md tells what comes of it.
"""

import numpy as np
from sklearn.datasets import load_digits

digits = load_digits()
chosen = np.isin(digits.target, [2, 3, 4, 5, 7])
images, labels = digits.images[chosen].astype("float32"), digits.target[chosen]

rng = np.random.default_rng(0)
mirrored = rng.integers(0, 2, len(images))
seen = np.where(mirrored[:, None, None] == 1, images[:, :, ::-1], images)
targets = 2 * labels + mirrored

learn = 650
quarters = rng.integers(1, 4, len(images) - learn)
turned = np.stack([np.rot90(image, k) for image, k in zip(seen[learn:], quarters)])

np.savez_compressed("mirrored.npz", x=seen[:learn], y=targets[:learn])
np.savez_compressed("turned.npz", x=turned, y=targets[learn:])
