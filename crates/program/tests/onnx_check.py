"""Exports the models that `cargo run --example sample_models -- FOLDER` wrote, and compares onnxruntime with `invar predict`.

Needs onnx, onnxruntime and numpy from PyPI:  python onnx_check.py BINARY FOLDER
"""

import json
import pathlib
import subprocess
import sys

import numpy as np
import onnx
import onnxruntime

# Differences allowed, as a part of the largest output: between two programs, and between an input and the same one moved.
SAME = 1e-5
INVARIANT = 1e-4


def run(session, path):
    return session.run(["outputs", "probabilities"], {"x": np.load(path)["x"]})


def predicted(binary, model, path):
    """Scores and probabilities as `invar predict` prints them."""
    text = subprocess.run([binary, "predict", model, path, "--json"], check=True, capture_output=True, text=True).stdout
    answers = [json.loads(line) for line in text.splitlines()]
    return [np.array([answer[key] for answer in answers]) for key in ("outputs", "probabilities")]


def metadata(graph, key):
    return next(entry.value for entry in graph.metadata_props if entry.key == key)


def interpreted(binary, target, shape, kept):
    """What the model keeps also holds for the ONNX file as invar itself runs it."""
    if kept:
        sides = "x".join(map(str, shape))
        subprocess.run([binary, "certify", "--onnx", target, "--shape", sides, "--group", *kept], check=True, capture_output=True)


def check(binary, model):
    target = model.with_suffix(".onnx")
    subprocess.run([binary, "export", model, "--onnx", target], check=True, capture_output=True)
    # What the model claims to keep is proved, too; one that keeps nothing says so with 1.
    proof = subprocess.run([binary, "certify", model], capture_output=True, text=True)
    assert proof.returncode == 0 or "nothing to certify" in proof.stdout, proof.stderr
    graph = onnx.load(target)
    onnx.checker.check_model(graph, full_check=True)
    onnx.shape_inference.infer_shapes(graph, check_type=True, strict_mode=True)
    session = onnxruntime.InferenceSession(target.read_bytes(), providers=["CPUExecutionProvider"])
    examples = model.with_suffix(".npz")
    outputs, shares = run(session, examples)
    expected, expected_shares = predicted(binary, model, examples)
    size = np.abs(expected).max()
    gap = np.abs(outputs - expected).max() / size
    assert outputs.shape == expected.shape and gap < SAME, (model.stem, gap)
    assert np.abs(shares - expected_shares).max() < SAME, model.stem
    assert np.ptp(expected, axis=0).max() > 1e-3 * size, (model.stem, "all examples have the same answer")
    if np.load(examples)["x"].dtype.kind == "f":
        interpreted(binary, target, np.load(examples)["x"].shape[1:], json.loads(metadata(graph, "kept")))
    moved = sorted(model.parent.glob(f"{model.stem}.moved.*.npz"))
    change = max((np.abs(run(session, path)[0] - outputs).max() / size for path in moved), default=0.0)
    assert change < INVARIANT, (model.stem, change)
    return gap, len(moved), change


def main():
    binary, folder = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2])
    models = sorted(folder.glob("*.invar"))
    assert models, f"no models in {folder}"
    for model in models:
        gap, moves, change = check(binary, model)
        print(f"{model.stem:14} differs by {gap:.1e}; moved in {moves} ways it changes by {change:.1e}")
    print(f"{len(models)} models answer alike in onnxruntime and invar predict, to {SAME:g}")


if __name__ == "__main__":
    main()
