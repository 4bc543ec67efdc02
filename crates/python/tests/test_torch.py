"""The PyTorch bridge: layers against ours, programs against ours, certificates of modules."""

import copy
import io
import json
import os
import pickle

import numpy as np
import pytest

import invar

torch = pytest.importorskip("torch")

from invar.torch import CgConv2d, CgLinear, LevelPenalty  # noqa: E402

pytestmark = pytest.mark.torch

#: What `cargo run -p invar-nn --example cg_cases` printed, and the folder that `--example sample_models` wrote.
CASES, MODELS = os.environ.get("INVAR_CG_CASES"), os.environ.get("INVAR_SAMPLE_MODELS")
SAME = 1e-5


def cases(kind):
    if CASES is None:
        pytest.skip("INVAR_CG_CASES names no file; .ci/python --torch makes one")
    with open(CASES) as file:
        return json.load(file)[kind]


def tensor(values, *shape):
    return torch.tensor(values, dtype=torch.float32).reshape(shape)


def same(mine, theirs):
    mine, theirs = mine.detach().numpy().reshape(-1), np.array(theirs)
    scale = max(1.0, np.abs(theirs).max(initial=0.0))
    assert mine.shape == theirs.shape and np.abs(mine - theirs).max(initial=0.0) <= SAME * scale


def test_dense_layers_are_ours():
    found = cases("linear")
    assert len(found) >= 5
    for case in found:
        shape, features = tuple(case["shape"]), case["features"]
        bias = {"none": "none", "single": "layer", "per_neuron": "neuron"}[case["bias"]]
        layer = CgLinear(shape, case["candidates"], case["neurons"], features=features, bias=bias)
        rank = len(layer.coefficients)
        with torch.no_grad():
            layer.coefficients.copy_(tensor(case["coefficients"], rank, features, case["neurons"]))
            if layer.bias is not None:
                layer.bias.copy_(tensor(case["biases"], -1))
        sides = shape + ((features,) if features > 1 else ())
        x = tensor(case["inputs"], -1, *sides).requires_grad_()
        y = layer(x)
        same(y, case["outputs"])
        (y * tensor(case["direction"], *y.shape)).sum().backward()
        same(layer.coefficients.grad, case["coefficients_gradient"])
        same(x.grad, case["inputs_gradient"])
        if layer.bias is not None:
            same(layer.bias.grad, case["biases_gradient"])
        same(layer.fold()(x.flatten(1)), case["outputs"])
        for one in case["penalties"]:
            layer.zero_grad()
            value = LevelPenalty(one["size"], one["proxy"], one["temperature"])(layer)
            value.backward()
            same(value, [one["value"]])
            same(layer.coefficients.grad, one["gradient"])


def test_convolutions_are_ours():
    found = cases("conv")
    assert len(found) >= 3
    for case in found:
        inputs, outputs, image = case["inputs_channels"], case["outputs_channels"], case["image"]
        layer = CgConv2d(case["candidates"], inputs, outputs, case["side"], channels=case["channels"])
        with torch.no_grad():
            layer.coefficients.copy_(tensor(case["coefficients"], *layer.coefficients.shape))
        x = tensor(case["inputs"], -1, image, image, inputs).requires_grad_()
        y = layer(x.permute(0, 3, 1, 2)).permute(0, 2, 3, 1)
        same(y, case["outputs"])
        (y * tensor(case["direction"], *y.shape)).sum().backward()
        same(layer.coefficients.grad, case["coefficients_gradient"])
        same(x.grad, case["inputs_gradient"])
        same(layer.fold()(x.permute(0, 3, 1, 2)).permute(0, 2, 3, 1), case["outputs"])


def test_programs_answer_as_models_do():
    if MODELS is None:
        pytest.skip("INVAR_SAMPLE_MODELS names no folder; .ci/python --torch makes one")
    names = sorted(name for name in os.listdir(MODELS) if name.endswith(".invar"))
    assert len(names) >= 5
    for name in names:
        model = invar.load(os.path.join(MODELS, name))
        x = np.load(os.path.join(MODELS, name.replace(".invar", ".npz")))["x"].astype(np.float32)
        expected = model.outputs(x)
        with torch.no_grad():
            found = model.to_torch()(torch.from_numpy(x).reshape(-1, *model.shape)).numpy()
        assert np.abs(found - expected).max() <= SAME * np.abs(expected).max(), name


def test_a_trained_model_becomes_a_module(model, table):
    x, _ = table
    program = model.to_torch()
    found = program(torch.from_numpy(x))
    assert np.allclose(found.detach().numpy(), model.outputs(x), atol=1e-5)
    found.sum().backward()
    assert all(parameter.grad is not None for parameter in program.parameters())
    buffer = io.BytesIO()
    torch.save(program.state_dict(), buffer)
    again = model.to_torch()
    again.load_state_dict(torch.load(io.BytesIO(buffer.getvalue())))
    assert torch.equal(again(torch.from_numpy(x)), found)
    with pytest.raises(ValueError, match=r"batch of \(4,\)"):
        program(torch.zeros(2, 5))


def test_imposed_symmetries_hold_exactly():
    layer = CgLinear((3, 3), ["rot90(0,1)", "permute(1)"], 4, imposed="rot90(0,1)")
    x = torch.randn(6, 3, 3)
    assert torch.allclose(layer(x), layer(torch.rot90(x, 1, (1, 2))), atol=1e-6)
    assert not torch.allclose(layer(x), layer(x[:, :, [1, 0, 2]]), atol=1e-3)
    found = layer.violations()
    assert found["rot90(0,1)"] < 1e-6 < 1e-2 < found["permute(1)"]
    assert LevelPenalty()(layer).item() == 0.0
    conv = CgConv2d(["rot90(1,2)"], 2, 3, imposed="rot90(1,2)")
    image = torch.randn(1, 2, 7, 7)
    assert torch.allclose(torch.rot90(conv(image), 1, (2, 3)), conv(torch.rot90(image, 1, (2, 3))), atol=1e-5)


def test_a_penalty_brings_symmetries_back():
    torch.manual_seed(0)
    layer, penalty = CgLinear(5, "swaps(0)", 2, bias="none"), LevelPenalty(temperature=10.0)
    optimizer = torch.optim.Adam(layer.parameters(), lr=0.02)
    x = torch.randn(256, 5)
    before = layer.violations()
    for _ in range(400):
        loss = (layer(x) - x.sum(1, keepdim=True)).square().mean() + 0.1 * penalty(layer)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    after = layer.violations()
    assert all(after[name] < 0.1 * before[name] for name in before)
    norms = layer.norms().detach()
    assert norms[0] > 100 * norms[1:].max()


def test_layers_are_modules_like_others():
    layer = CgLinear(4, "swaps(0)", 3)
    assert {name for name, _ in layer.named_parameters()} == {"coefficients", "bias"} and "basis" in layer.state_dict()
    for again in (copy.deepcopy(layer), pickle.loads(pickle.dumps(layer))):
        x = torch.randn(2, 4)
        assert torch.equal(again(x), layer(x))
    assert layer.double()(torch.randn(2, 4, dtype=torch.float64)).dtype == torch.float64
    assert layer(torch.randn(2, 7, 4, dtype=torch.float64)).shape == (2, 7, 3)
    assert "candidates=6" in repr(layer)


def test_modules_of_anybody_are_certified():
    torch.manual_seed(1)
    network = torch.nn.Sequential(CgLinear(4, "swaps(0)", 8, imposed=["swap(0;0,1)"]), torch.nn.ReLU(), torch.nn.Linear(8, 2))
    network.train()
    found = invar.certify(network, 4, ["swap(0;0,1)", "swap(0;2,3)"])
    assert [finding.result for finding in found] == ["holds", "changes"] and not found and network.training
    pooled = torch.nn.Sequential(torch.nn.Conv2d(1, 4, 3, padding=1), torch.nn.ReLU(), torch.nn.AdaptiveAvgPool2d(1), torch.nn.Flatten())
    assert not invar.certify(pooled, (1, 6, 6), "flip(1)")


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: CgLinear(3, "swaps(0)", 0), "neurons: expected at least 1"),
        (lambda: CgLinear(3, "swaps(0)", 2, bias="some"), "bias"),
        (lambda: CgLinear(3, "swaps(0)", 2, imposed="flop"), "no candidate is called 'flop'"),
        (lambda: CgLinear(2, "negate", 2, imposed="negate"), "no weights but zero"),
        (lambda: CgConv2d("rot90(1,2)", 2, 3, 4), "odd"),
        (lambda: LevelPenalty(temperature=0.5), "temperature"),
        (lambda: LevelPenalty(size="big"), "size"),
        (lambda: LevelPenalty()(torch.nn.Linear(2, 2)), "no CG layer"),
        (lambda: CgLinear(3, "swaps(0)", 2)(torch.zeros(2, 4)), r"end in \(3,\)"),
    ],
)
def test_wrong_settings(make, message):
    with pytest.raises(ValueError, match=message):
        make()
