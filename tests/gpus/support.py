"""What the tests of graphics processors share: programs as modules, and what both runtimes make of them."""

import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import numpy as np

from programs import PROGRAMS

IREE_DBG = os.environ["IREE_DBG"]
TYPES = {
    "f16": np.float16, "f32": np.float32,
    "i8": np.int8, "i16": np.int16, "i32": np.int32, "i64": np.int64,
}  # fmt: skip


def run(*command, folder, **environment):
    """What a command prints, and its exit status."""
    done = subprocess.run(
        [str(part) for part in command],
        cwd=folder, capture_output=True, text=True, timeout=600, check=False,
        env={**os.environ, **environment},
    )  # fmt: skip
    return done.returncode, done.stdout, done.stderr


def arguments(name, folder):
    """Files of arguments for a program, with special values among them, as flags."""
    flags = []
    random = np.random.default_rng(len(name))
    for index, (shape, kind) in enumerate(PROGRAMS[name][1]):
        dimensions = [int(size) for size in shape.split("x")]
        if kind.startswith("f"):
            values = (random.standard_normal(dimensions) * 2).astype(TYPES[kind])
            if "matmul" not in name:
                special = [np.nan, np.inf, -np.inf, 0.0, -0.0]
                where = random.choice(values.size, len(special), replace=False)
                values.reshape(-1)[where] = special
        else:
            limits = np.iinfo(TYPES[kind])
            values = random.integers(
                limits.min, limits.max, dimensions, dtype=TYPES[kind], endpoint=True
            )
        np.save(folder / f"{name}{index}.npy", values)
        flags.append(f"--input=@{name}{index}.npy")
    return flags


def compiled(device, name, folder, *flags, is_plain=False):
    """A program as a module for a device, with a debug file unless it is a plain one."""
    (folder / f"{name}.mlir").write_text(PROGRAMS[name][0])
    module = folder / f"{name}.vmfb"
    command = ["iree-compile"] if is_plain else [IREE_DBG, "compile"]
    between = [] if is_plain else ["--"]
    files = [f"{name}.mlir", "-o", module]
    target = f"--iree-hal-target-device={device}"
    status, _, errors = run(*command, *files, *between, target, *flags, folder=folder)
    assert status == 0, errors
    return module


def by_iree(device, module, inputs, folder, **environment):
    """The result as IREE's runtime has it."""
    out = folder / f"{module.stem}.theirs.npy"
    command = ["iree-run-module", f"--device={device}", f"--module={module}", "--function=main"]
    output = f"--output=@{out}"
    status, _, errors = run(*command, *inputs, output, folder=folder, **environment)
    assert status == 0, errors
    return out.read_bytes()


def by_us(device, module, inputs, folder, *flags, **environment):
    """The result as it is here."""
    out = folder / f"{module.stem}.ours.npy"
    command = [IREE_DBG, "run", f"--device={device}", f"--module={module}", "--function=main"]
    output = f"--output=@{out}"
    status, _, errors = run(*command, *inputs, *flags, output, folder=folder, **environment)
    assert status == 0, errors
    return out.read_bytes()


class Case(unittest.TestCase):
    """A test with a folder."""

    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = Path(scratch.name)

    def iree_dbg(self, *command, **environment):
        """What the program prints, and its exit status."""
        status, out, errors = run(IREE_DBG, *command, folder=self.folder, **environment)
        return status, out + errors

    def script(self, device, module, inputs, *commands, **environment):
        """What the debugger says to commands."""
        (self.folder / "script").write_text("\n".join(commands) + "\n")
        command = ["debug", f"--device={device}", "--batch", "-x", "script", module]
        _, out = self.iree_dbg(*command, "--function=main", *inputs, **environment)
        return out


def main():
    """Runs the tests of the program that is started."""
    sys.dont_write_bytecode = True
    result = unittest.main(verbosity=1, exit=False).result
    failed = len(result.failures) + len(result.errors)
    print(f"{max(result.testsRun - failed, 0)} passed, {failed} failed")
    sys.exit(0 if result.wasSuccessful() else 1)
