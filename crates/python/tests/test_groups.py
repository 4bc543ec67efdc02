"""Groups against ones that are enumerated here."""

import math
import pickle

import numpy as np
import pytest

import invar
from test_lattice import CASES


def enumerated(generators):
    """Every element, as a matrix."""
    d = len(generators[0])
    found = {np.eye(d).tobytes(): np.eye(d)}
    new = list(found.values())
    while new:
        products = [g @ h for g in generators for h in new]
        new = []
        for product in products:
            key = (np.round(product, 9) + 0.0).tobytes()
            if key not in found:
                found[key] = product
                new.append(product)
        assert len(found) <= 5000
    return list(found.values())


SMALL = [case for case in CASES if len(case[1]) < 3]


@pytest.mark.parametrize(("shape", "candidates", "build"), SMALL, ids=lambda value: str(value) if isinstance(value, (list, tuple)) else "")
def test_orders_orbits_and_means(shape, candidates, build):
    groups, known = invar.groups(shape, candidates), [enumerated(generators) for generators in build(shape)]
    rng = np.random.default_rng(1)
    x = rng.normal(size=(3, *shape))
    for group, elements in zip(groups, known):
        assert group.order == len(elements)
        mean = np.mean(elements, axis=0)
        flat = x.reshape(3, -1)
        assert np.allclose(group.project(x).reshape(3, -1), flat @ mean.T)
        assert np.allclose(group.project(x, weights=True).reshape(3, -1), flat @ mean)
        assert np.allclose(group.project(x[0]), group.project(x)[0])
        invariants = group.invariants().reshape(-1, mean.shape[0])
        assert len(invariants) == round(np.trace(mean)) and np.allclose(invariants @ mean, invariants)
        if group.orbits is not None:
            labels = group.orbits.reshape(-1)
            together = (np.abs(np.array(elements)) > 0.5).any(axis=0)
            assert np.array_equal(labels[:, None] == labels[None, :], together)


def test_what_groups_tell():
    square = invar.groups("3x3", {"turns": "rot90(0,1)", "mirror": "flip(0)"})
    assert len(square) == 2 and square.names == ("turns", "mirror") and square.order == 8
    assert square["turns"].is_normal and square["turns"].witness is None
    witness = square["mirror"].witness
    assert witness is not None and witness.of == "turns" and witness.g and witness.h and witness.conjugate
    assert not square["mirror"].commutes_with(square["turns"]) and square[0].commutes_with(square[0])
    assert square.join([]).order == 1 and square.join().is_normal
    assert [group.name for group in square[:1]] == ["turns"] and square[-1].name == "mirror"
    assert square["mirror"].generators == ["axis 0 swaps 0 and 2"]
    assert pickle.loads(pickle.dumps(square)).names == square.names


def test_orders_of_any_size():
    assert invar.groups(30, "permute(0)").order == math.factorial(30)
    assert invar.groups(3000, "permute(0)").order == math.factorial(3000)


def test_oddities_are_told():
    assert "trivial" in invar.groups((1, 3), "flip(0)").warnings[0]
    assert invar.groups(3, "flip(0)").warnings == ()


@pytest.mark.parametrize(
    ("x", "error", "message"),
    [
        ([[1.0, 2.0]], ValueError, r"end in \(3,\)"),
        ([1.0, np.nan, 2.0], ValueError, "finite"),
        (["a", "b", "c"], TypeError, "real numbers"),
        ([1.0, None, "x"], TypeError, "objects"),
        ([1j, 1, 1], TypeError, "real numbers"),
    ],
)
def test_wrong_inputs(x, error, message):
    with pytest.raises(error, match=message):
        invar.groups(3, "flip(0)")[0].project(x)


def test_wrong_names():
    groups = invar.groups(3, "flip(0)")
    with pytest.raises(ValueError, match="no candidate is called 'flop'"):
        groups["flop"]
    with pytest.raises(ValueError, match="no candidate"):
        groups.join(["flip(0)", "x"])
    with pytest.raises(IndexError):
        groups[1]
    with pytest.raises(ValueError, match="same list"):
        groups[0].commutes_with(invar.groups(3, "flip(0)")[0])
