"""What several tests need: a small table, and a model that the command line trained on it."""

import subprocess
import sys

import numpy as np
import pytest

import invar


def invar_command(*arguments, **options):
    """Runs the command that came with the package."""
    command = [sys.executable, "-m", "invar", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, **options)


@pytest.fixture(scope="session")
def command():
    return invar_command


@pytest.fixture(scope="session")
def table():
    """Rows of four numbers, the first three of which can be exchanged: is their sum above the fourth?"""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(240, 4)).astype(np.float32)
    x[:, :3] = np.sort(x[:, :3], axis=1)
    return x, (x[:, :3].sum(axis=1) > x[:, 3]).astype(np.int64)


PROJECT = """
[data]
train = "table.npz"
label = "y"
inputs = "x"
[task]
kind = "classification"
[symmetries]
candidates = ["swaps(0)"]
[train]
folds = 1
epochs = 12
seed = 3
"""


@pytest.fixture(scope="session")
def run(tmp_path_factory, table, command):
    """The folder of a run of the command line."""
    folder = tmp_path_factory.mktemp("run")
    x, y = table
    np.savez(folder / "table.npz", x=x, y=y)
    (folder / "invar.toml").write_text(PROJECT)
    done = command("train", folder / "invar.toml", "--out", folder / "run")
    assert done.returncode == 0, done.stderr
    return folder / "run"


@pytest.fixture(scope="session")
def model(run):
    return invar.load(run / "model.invar")
