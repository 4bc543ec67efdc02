"""Digits that were only seen upright, recognised upside down.

Zeros, ones and eights look the same when they are mirrored or turned by half a circle. Nobody says so: the candidates are listed,
and those that the training data do not contradict are kept. Needs `pip install invar-symmetry pandas`; takes about a minute.

    python examples/python/digits.py
"""

import os
import tempfile

import numpy as np
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression

import invar
from invar import InvarClassifier

# %% The data: 8x8 images with one channel. The test images are turned by half a circle.
digits = load_digits()
some = np.isin(digits.target, [0, 1, 8])
images, labels = digits.images[some].astype(np.float32)[:, None] / 16, digits.target[some]
X, y = images[:400], labels[:400]
turned, turned_labels = np.rot90(images[400:], 2, axes=(2, 3)), labels[400:]
print(f"{len(X)} upright images of shape {X.shape[1:]} to train on, {len(turned)} turned ones to test")

# %% What a filter of 3x3 pixels can be invariant to, exactly.
candidates = {"upside_down": "flip(1)", "mirrored": "flip(2)"}
patch = invar.lattice((1, 3, 3), candidates)
print(patch)
print(patch.verify())

# %% Fit. `folds=1` and few epochs are for a quick look.
learner = InvarClassifier(candidates, folds=1, epochs=8)
learner.fit(X, y, test=(turned, turned_labels))
print("kept:", learner.kept_)
print(learner.evidence_)

# %% Upside down: a model that keeps nothing is lost.
plain = LogisticRegression(max_iter=1000).fit(X.reshape(len(X), -1), y)
print(f"turned images: {100 * learner.score(turned, turned_labels):.1f} %, "
      f"logistic regression {100 * plain.score(turned.reshape(len(turned), -1), turned_labels):.1f} %")

# %% What is kept is proved, operation by operation.
print(learner.certificate_)

# %% A page with everything, the model file, and ONNX for other programs.
folder = os.environ.get("OUT") or tempfile.mkdtemp()
learner.report(os.path.join(folder, "report.html"))
learner.save(os.path.join(folder, "digits.invar"))
learner.export_onnx(os.path.join(folder, "digits.onnx"))
print("wrote report.html, digits.invar and digits.onnx to", folder)

# %% The same file serves the command line (`invar predict digits.invar new.npz`) and Python.
again = InvarClassifier.load(os.path.join(folder, "digits.invar"))
assert np.array_equal(again.predict(turned), learner.predict(turned))
