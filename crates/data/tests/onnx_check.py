"""Runs the models that `cargo run -p invar-data --example onnx_cases -- FOLDER` wrote, and compares them with NumPy.

Needs onnx, onnxruntime and numpy from PyPI:  python onnx_check.py FOLDER
"""

import math
import pathlib
import sys

import numpy as np
import onnx
import onnxruntime


def windows(x, kernel, strides, pads, fill):
    """Patches of the last two axes: ... x places down x places right x kernel height x kernel width."""
    top, left, bottom, right = pads
    x = np.pad(x, ((0, 0), (0, 0), (top, bottom), (left, right)), constant_values=fill)
    patches = np.lib.stride_tricks.sliding_window_view(x, kernel, axis=(2, 3))
    return patches[:, :, :: strides[0], :: strides[1]]


def conv(x, w, strides=(1, 1), pads=(0, 0, 0, 0), groups=1):
    parts = []
    for part, filters in zip(np.split(x, groups, axis=1), np.split(w, groups, axis=0)):
        patches = windows(part, w.shape[2:], strides, pads, 0.0)
        parts.append(np.einsum("ncijhw,ochw->noij", patches, filters))
    return np.concatenate(parts, axis=1)


def pool(x, kernel, strides, pads=(0, 0, 0, 0)):
    return windows(x, kernel, strides, pads, -np.inf).max(axis=(4, 5))


def norm(x, a, epsilon):
    scale, shift, mean, variance = (a[k].reshape(1, -1, 1, 1) for k in ("scale", "shift", "mean", "variance"))
    return (x - mean) / np.sqrt(variance + epsilon) * scale + shift


def softmax(x, axis):
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


def network_images(a):
    x = np.maximum(norm(conv(a["x"], a["w"], pads=(1, 1, 1, 1)), a, 1e-5), 0)
    x = pool(x, (2, 2), (2, 2)).mean(axis=(2, 3))
    return softmax(x @ a["dense"].T + a["bias"], 1)


EXPECTED = {
    "conv": lambda a: conv(a["x"], a["w"], (2, 1), (1, 0, 2, 1)) + a["b"].reshape(1, -1, 1, 1),
    "conv_groups": lambda a: conv(a["x"], a["w"], groups=2),
    "max_pool": lambda a: pool(a["x"], (3, 2), (2, 2), (1, 0, 1, 1)),
    "batch_norm": lambda a: norm(a["x"], a, 1e-3),
    "gemm": lambda a: a["x"] @ a["w"] + a["b"],
    "gemm_transposed": lambda a: a["x"] @ a["w"].T + a["b"],
    "matmul": lambda a: a["x"] @ a["w"],
    "add": lambda a: a["x"] + a["w"],
    "mul": lambda a: a["x"] * a["w"],
    "min": lambda a: np.minimum(a["x"], a["w"]),
    "max": lambda a: np.maximum(a["x"], a["w"]),
    "relu": lambda a: np.maximum(a["x"], 0),
    "leaky_relu": lambda a: np.where(a["x"] > 0, a["x"], np.float32(0.01) * a["x"]),
    "sigmoid": lambda a: 1 / (1 + np.exp(-a["x"])),
    "tanh": lambda a: np.tanh(a["x"]),
    "erf": lambda a: np.vectorize(math.erf)(a["x"]),
    "reduce_max": lambda a: a["x"].max(2),
    "gather_along": lambda a: a["x"][:, :, [[1, 0], [0, 1]]],
    "softmax": lambda a: softmax(a["x"], 2),
    "arg_max": lambda a: a["x"].argmax(1),
    "reduce_sum": lambda a: a["x"].sum(1),
    "reduce_sum_keep": lambda a: a["x"].sum((1, 3), keepdims=True),
    "reduce_mean": lambda a: a["x"].mean((2, 3)),
    "flatten": lambda a: a["x"].reshape(len(a["x"]), -1),
    "reshape": lambda a: a["x"].reshape(len(a["x"]), 8, 3),
    "transpose": lambda a: a["x"].transpose(0, 3, 1, 2),
    "gather": lambda a: a["table"][a["x"]],
    "concat": lambda a: np.concatenate([a["table"][a["x"]], a["table"][a["x"]].max(1, keepdims=True)], 1),
    "network_tokens": lambda a: np.maximum(a["table"][a["x"]].sum(1) @ a["w"].T + a["b"], 0),
    "network_images": network_images,
}


def check(path):
    model = onnx.load(path)
    onnx.checker.check_model(model, full_check=True)
    # What the file says about shapes must agree with what can be inferred, strictly.
    onnx.shape_inference.infer_shapes(model, check_type=True, strict_mode=True)
    session = onnxruntime.InferenceSession(path.read_bytes(), providers=["CPUExecutionProvider"])
    arrays = dict(np.load(path.with_suffix(".npz")))
    names = [value.name for value in session.get_inputs()]
    worst = 0.0
    for examples in (1, 3, 5):  # the batch is free
        some = {name: array[:examples] if name in names else array for name, array in arrays.items()}
        (got,) = session.run(None, {name: some[name] for name in names})
        wanted = EXPECTED[path.stem](some)
        assert got.shape == wanted.shape, (path.stem, got.shape, wanted.shape)
        stated = [d.dim_param or d.dim_value for d in model.graph.output[0].type.tensor_type.shape.dim]
        assert [examples if d == "batch" else d for d in stated] == list(got.shape), (path.stem, stated, got.shape)
        worst = max(worst, float(np.abs(got - wanted).max()))
    assert worst < 1e-5, (path.stem, worst)
    return worst


def main():
    paths = sorted(pathlib.Path(sys.argv[1]).glob("*.onnx"))
    assert {path.stem for path in paths} == set(EXPECTED), "a model is missing, or unknown"
    for path in paths:
        print(f"{path.stem:20} largest difference {check(path):.1e}")
    print(f"{len(paths)} models agree with NumPy to 1e-5")


if __name__ == "__main__":
    main()
