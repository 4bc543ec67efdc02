"""The command that comes with the package."""

import subprocess
import sys
import sysconfig
from pathlib import Path

import invar


def test_the_command_is_on_the_path():
    program = Path(sysconfig.get_path("scripts")) / ("invar.exe" if sys.platform == "win32" else "invar")
    assert program.exists()
    done = subprocess.run([str(program), "--version"], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, f"invar {invar.__version__}\n")


def test_exit_codes_are_those_of_the_program(command, tmp_path):
    assert command("groups", "--shape", "3", "flip(0)").returncode == 0
    wrong = command("groups", "--shape", "3", "flop(0)")
    assert wrong.returncode == 2 and "did you mean" in wrong.stderr
    assert command("nonsense").returncode == 2
    missing = command("predict", tmp_path / "nothing.invar", tmp_path / "x.csv")
    assert missing.returncode == 1 and missing.stderr.startswith("error: ")


def test_it_does_not_wait_for_large_packages():
    """A command that waits for half of SciPy is a slow command."""
    check = "import sys, invar._command; print(sorted({'sklearn', 'scipy', 'pandas', 'torch'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", check], capture_output=True, text=True).stdout == "[]\n"
