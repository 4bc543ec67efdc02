"""Model files: the same answers, proofs and exports as the command line."""

import csv
import io
import json
import pickle

import numpy as np
import onnxruntime
import pandas
import pytest

import invar


def test_answers_are_those_of_the_command(run, model, table, command):
    x, _ = table
    done = command("predict", run / "model.invar", run.parent / "table.npz", "--json")
    assert done.returncode == 0, done.stderr
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(answers) == len(x)
    assert np.array_equal(model.outputs(x), np.array([answer["outputs"] for answer in answers], dtype=np.float32))
    assert [answer["class"] for answer in answers] == model.predict(x).tolist()
    shares = np.array([answer["probabilities"] for answer in answers])
    assert np.allclose(model.predict_proba(x), shares, atol=1e-6)


def test_what_a_model_tells(model):
    assert model.shape == (4,) and model.classes == ["0", "1"] and model.version == invar.__version__
    assert [candidate.name for candidate in model.candidates] == [f"swap(0;{i},{j})" for i in range(4) for j in range(i + 1, 4)]
    assert set(model.kept) == {candidate.name for candidate in model.candidates if candidate.kept}
    assert all(candidate.verdict for candidate in model.candidates)
    assert model.training["learner"] == "screen" and "2 classes" in repr(model)


def test_proofs_are_those_of_the_command(run, model, command):
    done = command("certify", run / "model.invar", "--group", "swap(0;0,1)", "flip(0)", "--json")
    expected = json.loads(done.stdout)["groups"]
    found = model.certify(["swap(0;0,1)", "flip(0)"])
    assert [finding.name for finding in found] == [group["name"] for group in expected]
    for mine, theirs in zip(found, expected):
        assert (mine.result, mine.certified, mine.kept) == (theirs["result"], theirs["certified"], theirs["kept"])
        assert mine.proof == theirs["proof"] and mine.measured == theirs["measured"]
    assert bool(found) == all(group["certified"] for group in expected)
    assert not model.certify([]) and len(invar.certify(model)) == len(model.kept)


def test_kept_symmetries_hold(model, table):
    x, _ = table
    assert model.kept, "the task of this test keeps something"
    assert model.certify() and all(finding.result == "proved" for finding in model.certify())
    for name in model.kept:
        i, j = map(int, name[len("swap(0;") : -1].split(","))
        moved = x.copy()
        moved[:, [i, j]] = moved[:, [j, i]]
        assert np.allclose(model.outputs(moved), model.outputs(x), atol=1e-4)


def test_exports(tmp_path, model, table):
    x, _ = table
    model.export_onnx(tmp_path / "model.onnx")
    session = onnxruntime.InferenceSession(str(tmp_path / "model.onnx"))
    outputs = session.run(["outputs"], {"x": x})[0]
    assert np.allclose(outputs, model.outputs(x), atol=1e-5)
    model.export_safetensors(tmp_path / "weights.safetensors")
    assert (tmp_path / "weights.safetensors").stat().st_size > 100


def test_models_are_copied_whole(tmp_path, run, model, table):
    model.save(tmp_path / "copy.invar")
    assert (tmp_path / "copy.invar").read_bytes() == (run / "model.invar").read_bytes()
    again = pickle.loads(pickle.dumps(model))
    assert np.array_equal(again.outputs(table[0]), model.outputs(table[0])) and again.kept == model.kept


def test_examples_in_other_forms(model, table):
    x, _ = table
    expected = model.outputs(x)
    assert np.array_equal(model.outputs(x.astype(np.float64)), expected)
    assert np.array_equal(model.outputs(x.tolist()), expected)
    assert np.array_equal(model.outputs(np.asfortranarray(x)), expected)
    assert np.array_equal(model.outputs(x[::2]), expected[::2])
    assert np.array_equal(model.outputs(pandas.DataFrame(x, columns=list("abcd"))), expected)
    assert model.outputs(x[:0]).shape == (0, 2)


@pytest.mark.parametrize(
    ("x", "error", "message"),
    [
        (np.zeros((2, 3)), ValueError, r"examples of 4, got an array of shape \(2, 3\)"),
        (np.zeros(4), ValueError, "examples of 4"),
        ([[0, 1, np.nan, 2]], ValueError, r"finite numbers, got nan at \(0, 2\)"),
        ([[0, 1, 1e300, 2]], ValueError, "finite"),
        (np.array([[1, "a", None, 2]], dtype=object), TypeError, "array of objects"),
        ([["1", "2", "3", "4"]], TypeError, "real numbers"),
        (np.zeros((1, 4), dtype=complex), TypeError, "real numbers"),
    ],
)
@pytest.mark.filterwarnings("ignore:overflow")
def test_wrong_examples(model, x, error, message):
    with pytest.raises(error, match=message):
        model.predict(x)


def test_wrong_files(tmp_path):
    with pytest.raises(FileNotFoundError, match="no such file"):
        invar.load(tmp_path / "nothing.invar")
    (tmp_path / "text.invar").write_text("this is no model")
    with pytest.raises(ValueError, match="not a model"):
        invar.load(tmp_path / "text.invar")
    with pytest.raises(ValueError, match="expected a file, got a folder"):
        invar.load(tmp_path)


def test_wrong_questions(model, tmp_path):
    with pytest.raises(ValueError, match="did you mean"):
        model.certify("swop(0;0,1)")
    with pytest.raises(ValueError, match="billions"):
        model.certify("swap(0;0,1)", limit=1e-9)
    with pytest.raises(ValueError, match="a number from 1"):
        model.certify("swap(0;0,1)", count=0)
    with pytest.raises(ValueError, match="which the model takes"):
        invar.certify(model, (5,))
    with pytest.raises(TypeError, match="shape and candidates"):
        invar.certify("model.onnx")
    with pytest.raises(FileNotFoundError):
        invar.certify("nothing.onnx", 4, "negate")
    with pytest.raises(TypeError, match="torch.nn.Module"):
        pytest.importorskip("torch")
        invar.certify(7, 4, "negate")
    with pytest.raises(OSError):
        model.save(tmp_path / "no" / "folder" / "model.invar")


def test_the_command_writes_all_it_says(run, command):
    """The last line is there, too: nobody but the package flushes what Rust has printed."""
    done = command("predict", run / "model.invar", run.parent / "table.npz", "--csv")
    rows = list(csv.reader(io.StringIO(done.stdout)))
    assert len(rows) == 241 and all(len(row) == 5 for row in rows)
