"""Learners: the manners of scikit-learn, and the models of the command line."""

import enum
import os
import pickle
import signal
import subprocess
import sys
import textwrap
import time

import numpy as np
import onnxruntime
import pandas
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import invar
from invar import InvarClassifier, InvarRegressor

#: A quick fit.
QUICK = {"folds": 1, "epochs": 12}


@pytest.fixture(scope="module")
def fitted(table):
    x, y = table
    return InvarClassifier("swaps(0)", random_state=3, **QUICK).fit(x, y)


def weights(model):
    text, tensors = model._core.program()
    return text, {name: values.tobytes() for name, values in tensors.items()}


def test_the_model_is_that_of_the_command_bit_for_bit(fitted, model, run, table):
    assert weights(fitted.model_) == weights(model)
    assert np.array_equal(fitted.model_.outputs(table[0]), model.outputs(table[0]))
    assert fitted.model_.candidates == model.candidates
    # From columns with names, too, and on any number of threads.
    frame = pandas.DataFrame(table[0], columns=list("abcd"))
    named = InvarClassifier("swaps(0)", random_state=3, n_jobs=1, **QUICK).fit(frame, table[1])
    assert weights(named.model_) == weights(model)
    assert named.evidence_.shown[0] == "exchange(a, b)" and fitted.evidence_.shown[0] == "exchange(1, 2)"


def test_what_a_fit_tells(fitted, table, tmp_path):
    x, y = table
    assert fitted.score(x, y) > 0.9 and list(fitted.classes_) == [0, 1] and fitted.n_features_in_ == 4
    evidence = fitted.evidence_
    assert list(evidence.columns) == ["symmetry", "shown", "kept", "verdict", "cost", "lower", "upper", "note"] and len(evidence) == 6
    assert evidence[evidence.kept].symmetry.tolist() == fitted.kept_ == fitted.model_.kept
    assert set(fitted.kept_) <= {"swap(0;0,1)", "swap(0;0,2)", "swap(0;1,2)"} and fitted.kept_
    assert fitted.certificate_ and len(fitted.certificate_) == len(fitted.kept_)
    shares = fitted.predict_proba(x)
    assert shares.shape == (240, 2) and np.allclose(shares.sum(axis=1), 1, atol=1e-6)
    page = fitted.report(tmp_path / "report.html")
    assert page == (tmp_path / "report.html").read_text(encoding="utf-8") and '<section id="evidence">' in page
    assert "exchange(1, 2)" in fitted._repr_html_() and fitted.run_["learner"] == "screen"
    fitted.export_onnx(tmp_path / "model.onnx")
    assert (tmp_path / "model.onnx").stat().st_size > 100


def test_saved_learners_answer_alike(fitted, table, tmp_path, command):
    x, y = table
    fitted.save(tmp_path / "model.invar")
    again = InvarClassifier.load(tmp_path / "model.invar")
    assert np.array_equal(again.predict_proba(x), fitted.predict_proba(x)) and again.kept_ == fitted.kept_
    assert again.score(x, y) == fitted.score(x, y) and again.evidence_.kept.sum() == len(fitted.kept_)
    with pytest.raises(ValueError, match="no run to report on"):
        again.report()
    with pytest.raises(ValueError, match="InvarClassifier loads it"):
        InvarRegressor.load(tmp_path / "model.invar")
    assert command("certify", tmp_path / "model.invar").returncode == 0
    copied = pickle.loads(pickle.dumps(fitted))
    assert np.array_equal(copied.predict_proba(x), fitted.predict_proba(x)) and copied.report() == fitted.report()


def test_learners_work_where_others_do(table):
    x, y = table
    x, y = x[:120], y[:120]
    learner = InvarClassifier("permute(0)", folds=1, epochs=4)
    pipeline = make_pipeline(StandardScaler(), learner).fit(x, y)
    assert pipeline.predict(x).shape == (120,)
    assert cross_val_score(learner, x, y, cv=2).shape == (2,)
    search = GridSearchCV(learner, {"tolerance": [1.0, 5.0]}, cv=2).fit(x, y)
    assert search.best_estimator_.tolerance in (1.0, 5.0)
    other = clone(learner).set_params(random_state=7, candidates=["swaps(0)"])
    assert other.get_params()["random_state"] == 7 and not hasattr(other, "model_") and learner.random_state == 0


class Colour(enum.Enum):
    RED = 1
    BLUE = 2


@pytest.mark.parametrize(
    "labels",
    [("no", "yes"), (False, True), (10, -3), (("a", 1), ("b", 2)), (Colour.RED, Colour.BLUE), (1, "1"), (frozenset(), frozenset([1]))],
    ids=str,
)
def test_labels_of_any_kind(labels, table):
    x, y = table
    given = [labels[k] for k in y]
    learner = InvarClassifier("permute(0)", folds=1, epochs=4).fit(x, given)
    assert set(learner.classes_.tolist()) == set(labels)
    answers = learner.predict(x).tolist()
    assert set(answers) <= set(labels) and np.mean([a == b for a, b in zip(answers, given)]) > 0.5


def test_regression(table, tmp_path):
    x, _ = table
    y = x[:, :3].sum(axis=1) - x[:, 3]
    learner = InvarRegressor("swaps(0)", folds=1, epochs=30).fit(x, 100 + y)
    assert learner.score(x, 100 + y) > 0.8 and learner.predict(x).shape == (240,)
    learner.save(tmp_path / "model.invar")
    assert np.array_equal(InvarRegressor.load(tmp_path / "model.invar").predict(x), learner.predict(x))
    with pytest.raises(ValueError, match="InvarRegressor loads it"):
        InvarClassifier.load(tmp_path / "model.invar")
    with pytest.raises(ValueError, match="numbers that differ"):
        InvarRegressor("swaps(0)").fit(x, np.ones(240))


@pytest.fixture(scope="module")
def images():
    """Bright spots in an upper or lower half; left and right mean nothing."""
    rng = np.random.default_rng(2)
    x, y = rng.uniform(0, 0.3, size=(120, 6, 6)).astype(np.float32), rng.integers(0, 2, 120)
    for image, half in zip(x, y):
        image[3 * half + rng.integers(0, 3), rng.integers(0, 6)] = 1
    return x, y


def test_images_in_every_form(images):
    x, y = images
    # As `invar init` proposes: one channel, a quarter turn and a mirror.
    learner = InvarClassifier(folds=1, epochs=2).fit(x, y)
    assert learner.shape_ == (1, 6, 6) and len(learner.evidence_) == 2
    asked = InvarClassifier(["flip(1)", "flip(2)"], shape=(1, 6, 6), folds=1, epochs=2).fit(x.reshape(120, 36), y)
    assert np.array_equal(asked.predict(x.reshape(120, 36)), asked.predict(x.reshape(120, 36).astype(float)))
    last = np.stack([x, x**2, x**3], axis=3)
    learner = InvarClassifier(folds=1, epochs=2).fit(last, y)
    assert learner.shape_ == (3, 6, 6) and learner.predict(last[:5]).shape == (5,)
    first = np.moveaxis(last, 3, 1)
    assert np.array_equal(learner.model_.outputs(first), learner.model_.outputs(last))


def test_onnx_takes_examples_as_they_were_given(images, tmp_path):
    x, y = images
    for given in (x, x.reshape(120, 36), np.stack([x, x**2, x**3], axis=3)):
        shape = (1, 6, 6) if given.ndim < 4 else None
        learner = InvarClassifier(["flip(1)", "flip(2)"] if shape else None, shape=shape, folds=1, epochs=1).fit(given, y)
        learner.export_onnx(tmp_path / "model.onnx")
        session = onnxruntime.InferenceSession(str(tmp_path / "model.onnx"))
        outputs = session.run(["probabilities"], {"x": given[:7]})[0]
        assert np.allclose(outputs, learner.predict_proba(given[:7]), atol=1e-5)


def test_parts_of_ones_own(table):
    x, y = table
    learner = InvarClassifier("permute(0)", folds=1, epochs=4)
    learner.fit(x[:150], y[:150], validation=(x[150:200], y[150:200]), test=(x[200:], y[200:]))
    assert learner.run_["examples"] == [150, 50, 40] and [score["part"] for score in learner.run_["scores"]] == ["validation", "test"]
    with pytest.raises(ValueError, match="test: the class 7 is not among those of y"):
        learner.fit(x, y, test=(x[:2], [0, 7]))
    with pytest.raises(ValueError, match="features"):
        learner.fit(x, y, test=(x[:2, :3], [0, 1]))
    with pytest.raises(TypeError, match="validation: expected examples with their labels"):
        learner.fit(x, y, validation=x)


def test_progress_is_heard(table):
    heard = []
    InvarClassifier("permute(0)", folds=1, epochs=4).fit(*table, callback=lambda *news: heard.append(news))
    done = [news[0] for news in heard]
    assert done == sorted(done) and done[-1] > 0 and all(news[0] <= news[1] and isinstance(news[2], str) for news in heard)
    with pytest.raises(ZeroDivisionError):
        InvarClassifier("permute(0)", folds=1, epochs=4).fit(*table, callback=lambda *_: 1 / 0)


def test_a_finished_run_is_read_not_repeated(table, tmp_path):
    learner = InvarClassifier("permute(0)", folds=1, epochs=4, folder=tmp_path / "run").fit(*table)
    assert {"model.invar", "run.json"} <= set(os.listdir(tmp_path / "run"))
    heard = []
    again = clone(learner).fit(*table, callback=lambda *news: heard.append(news))
    assert weights(again.model_) == weights(learner.model_) and not any(news[0] for news in heard)
    assert invar.load(tmp_path / "run" / "model.invar").kept == learner.kept_


INTERRUPTED = """
    import signal, sys
    import numpy as np
    # A job in the background of a shell ignores Ctrl-C, and so would this one.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    from invar import InvarClassifier
    x = np.sort(np.random.default_rng(0).normal(size=(1500, 6)).astype(np.float32), axis=1)
    y = (x.sum(axis=1) > 0).astype(int)
    learner = InvarClassifier("swaps(0)", folds=3, epochs=150, folder=sys.argv[1])
    told = []
    def tell(done, of, what):
        if done > 100 and not told:
            told.append(done)
            print("begun", flush=True)
    try:
        learner.fit(x, y, callback=tell)
        print("finished", flush=True)
    except KeyboardInterrupt:
        print("interrupted", hasattr(learner, "model_"), flush=True)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="signals are other there")
def test_ctrl_c_ends_a_fit_and_keeps_what_was_finished(tmp_path):
    script = tmp_path / "fit.py"
    script.write_text(textwrap.dedent(INTERRUPTED))
    process = subprocess.Popen([sys.executable, script, tmp_path / "run"], stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "begun\n"
    process.send_signal(signal.SIGINT)
    begun = time.monotonic()
    assert process.communicate(timeout=60)[0] == "interrupted False\n" and time.monotonic() - begun < 60
    left = [path for path in (tmp_path / "run").rglob("*") if path.is_file()]
    assert left and not (tmp_path / "run" / "model.invar").exists()


@pytest.mark.parametrize(
    ("x", "y", "error", "message"),
    [
        (np.zeros((4, 2)), [0, 1, 0], ValueError, "inconsistent"),
        ([[1, 2], [3, np.nan]], [0, 1], ValueError, "NaN"),
        ([[1, 2], [3, np.inf]], [0, 1], ValueError, "infinity"),
        ([["a", "b"], ["c", "d"]], [0, 1], ValueError, "could not convert"),
        (np.array([[1, {}], [2, 3]], dtype=object), [0, 1], TypeError, "float"),
        (np.zeros((0, 2)), [], ValueError, "0 sample"),
        (np.zeros((4, 2)), [1, 1, 1, 1], ValueError, "only one class: 1"),
        (np.zeros((4, 2)), [0.5, 1.5, 2.5, 3.5], ValueError, "continuous"),
        (np.zeros((4, 2)), [[0, 1]] * 4, ValueError, "1d array"),
        (np.zeros((2, 2)), [("a",), None], ValueError, "a label for each example"),
        (np.zeros((2, 2)), [{}, 1], TypeError, "can be hashed"),
        (np.zeros(4), [0, 1, 0, 1], ValueError, "2D array"),
        (np.zeros((2, 2), dtype=complex), [0, 1], ValueError, "Complex"),
    ],
)
def test_wrong_data(x, y, error, message):
    with pytest.raises(error, match=message):
        InvarClassifier("permute(0)").fit(x, y)


@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        ({"candidates": []}, ValueError, "at least one symmetry"),
        ({"candidates": "flop(0)"}, ValueError, "did you mean"),
        ({"candidates": "flip(1)"}, ValueError, "out of range"),
        ({"candidates": 3}, TypeError, "candidates"),
        ({"shape": (5,)}, ValueError, "examples of 5"),
        ({"tolerance": -1.0}, ValueError, "tolerance"),
        ({"tolerance": "much"}, TypeError, "tolerance: expected int or float, got 'much'"),
        ({"epochs": 0}, ValueError, "epochs"),
        ({"epochs": 1.5}, TypeError, "epochs"),
        ({"epochs": -2}, ValueError, "epochs"),
        ({"folds": 1000}, ValueError, "folds"),
        ({"network": "big"}, ValueError, "big"),
        ({"network": "lift"}, ValueError, "lift"),
        ({"learner": "both"}, ValueError, "both"),
        ({"lambdas": [1.0]}, ValueError, "lambdas"),
        ({"require": "negate"}, ValueError, "require"),
        ({"validation": 1.5}, ValueError, "between 0 and 1"),
        ({"random_state": -1}, ValueError, "random_state"),
        ({"random_state": "x"}, ValueError, "seed"),
        ({"n_jobs": 0}, ValueError, "n_jobs"),
    ],
)
def test_wrong_settings(settings, error, message, table):
    with pytest.raises(error, match=message):
        InvarClassifier(**{"candidates": "swaps(0)", **settings}).fit(*table)


def test_wrong_manners(table, fitted):
    x, y = table
    with pytest.raises(TypeError, match="sample_weight cannot be given; examples count alike"):
        InvarClassifier("permute(0)").fit(x, y, sample_weight=np.ones(240))
    with pytest.raises(NotFittedError):
        InvarClassifier().predict(x)
    with pytest.raises(NotFittedError):
        InvarClassifier().evidence_  # noqa: B018
    with pytest.raises(ValueError, match="features"):
        fitted.predict(x[:, :3])
    with pytest.raises(ValueError, match="NaN"):
        fitted.predict(np.full((1, 4), np.nan))
