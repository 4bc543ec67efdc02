"""Examples in documentation strings are run, and every public name has such a string."""

import doctest
import importlib
import inspect
import pkgutil
from pathlib import Path

import pytest

import invar

#: These need PyTorch.
TORCH = {"torch", "_program"}
MODULES = sorted({module.name for module in pkgutil.iter_modules(invar.__path__)} - TORCH - {"_invar", "__main__"})


@pytest.mark.parametrize("name", MODULES)
def test_examples_run(name):
    module = importlib.import_module(f"invar.{name}")
    assert doctest.testmod(module, optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE).failed == 0


def test_the_example_of_the_package_runs():
    assert doctest.testmod(invar).failed == 0 and doctest.testmod(invar).attempted > 0


@pytest.mark.torch
def test_examples_with_torch_run():
    pytest.importorskip("torch")
    assert doctest.testmod(importlib.import_module("invar.torch")).failed == 0


@pytest.mark.parametrize("name", [name for name in invar.__all__ if not name.startswith("__")])
def test_everything_public_is_documented(name):
    thing = getattr(invar, name)
    assert inspect.getdoc(thing), name
    if inspect.isclass(thing):
        own = [member for member, value in vars(thing).items() if not member.startswith("_") and callable(value)]
        assert all(inspect.getdoc(getattr(thing, member)) for member in own), name


def test_typing_is_announced():
    assert (Path(invar.__file__).parent / "py.typed").is_file()
