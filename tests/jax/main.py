"""Compares what the debugger shows of JAX models, by the lines and names of their Python, with the
same models run eagerly.

    usage: tests/jax/main.py IREE_DBG [MODEL]...

Each model is exported with its locations, compiled, and stepped through operation by operation. At
each stop, each variable of each Python frame must be what the eager run has under that name, in
that function, called from there, when it comes to that line. Prints, for each model, how many
variables were compared, how many have a reason instead, and each that is wrong.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

import jax
import numpy as np

import models

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path += [str(ROOT / "tests" / "support"), str(ROOT / "runtime" / "python")]
import python_lines  # noqa: E402
from iree_dbg._jax_export import export  # noqa: E402

HERE = Path(models.__file__).resolve()
# How many variables each model showed at least when this was written: with the locations that JAX
# writes, and with the notes of `iree_dbg.jax`.
AT_LEAST = {
    "mlp": (2, 44),
    "transformer": (24, 79),
    "convolutions": (6, 39),
    "same_names": (10, 71),
    "special_values": (12, 53),
    "transformed": (4, 34),
    "loops": (4, 29),
    # Of functions that are traced apart, JAX's locations say some calls several times.
    "reused": (None, 20),
    "again": (None, 11),
    "recurrent": (None, 33),
    "stacked": (None, 26),
    "nested": (None, 14),
}


def concrete(value):
    """The numbers of an array; None of what JAX only traces."""
    # Of a function that is differentiated, the value itself.
    while isinstance(value, jax.core.Tracer) and hasattr(value, "primal"):
        value = value.primal
    if isinstance(value, (jax.Array, np.ndarray)) and not isinstance(value, jax.core.Tracer):
        return np.asarray(value)
    return None


def eager(model, arguments):
    """What variables are at each line. What is under `jit` runs line by line, too."""
    with jax.disable_jit():
        return python_lines.eager(HERE, lambda: model(*arguments), concrete)


def plain(model, arguments, source):
    """What JAX itself writes: a program with locations."""
    lowered = jax.jit(model, keep_unused=True).lower(*arguments)
    source.write_text(lowered.compiler_ir("stablehlo").operation.get_asm(enable_debug_info=True))


def noted(model, arguments, source):
    """What `iree_dbg.jax` writes: a program with notes on its Python beside it."""
    export(model, arguments, {}).write(source)


def check(program, factory, write, folder):
    model, arguments = factory()
    source, module = folder / "model.mlir", folder / "model.vmfb"
    write(model, arguments, source)
    inputs = []
    for number, leaf in enumerate(jax.tree_util.tree_leaves(arguments)):
        inputs.append(folder / f"input{number}.npy")
        np.save(inputs[-1], np.asarray(leaf))
    flags = [
        "--iree-hal-target-device=local",
        "--iree-hal-local-target-device-backends=llvm-cpu",
        "--iree-llvmcpu-target-cpu=generic",
    ]
    subprocess.run([program, "compile", source, "-o", module, *flags], check=True, stdout=subprocess.DEVNULL)
    expected = eager(model, arguments)
    walk = python_lines.step_through(program, module, inputs, HERE, expected, folder)
    if write is noted:
        python_lines.step_over(program, module, inputs, HERE, expected, walk)
    return walk


def main():
    program, *names = sys.argv[1:]
    passed = failed = 0
    for factory in models.MODELS:
        if names and factory.__name__ not in names:
            continue
        for write, at_least in zip((plain, noted), AT_LEAST[factory.__name__]):
            if at_least is None:
                continue
            with tempfile.TemporaryDirectory() as folder:
                walk = check(program, factory, write, Path(folder))
            name = f"{factory.__name__} ({write.__name__})"
            is_right = python_lines.judge(name, at_least, walk)
            passed, failed = (passed + 1, failed) if is_right else (passed, failed + 1)
    print(f"{passed} passed, {failed} failed")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
