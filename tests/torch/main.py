"""`iree_dbg.torch` on the models of `models.py`: `tests/run torch`.

    usage: tests/torch/main.py [MODEL]...

Each model is compiled for machine code and for bytecode, and compared with PyTorch: its results by
`against`, and, as by `tests/jax`, each variable of each Python frame at each stop with what the eager
run has at that line. The library is that of IREE_DBG_PYTHON_LIBRARY, the program that of IREE_DBG.
"""

import os
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
PACKAGE = HERE.parent.parent / "runtime" / "python"
sys.path[:0] = [str(PACKAGE), str(HERE), str(HERE.parent / "support")]

import numpy as np  # noqa: E402
import torch  # noqa: E402

import iree_dbg.torch  # noqa: E402
import models  # noqa: E402
import python_lines  # noqa: E402

FILE = Path(models.__file__).resolve()
TARGETS = {
    "llvm-cpu": ["--iree-llvmcpu-target-cpu=generic"],
    "vmvx": [],
}
# How many variables each model showed at least when this was written.
AT_LEAST = {
    "mlp": 20,
    "transformer": 241,
    "convolutions": 70,
    "same_names": 17,
    "special_values": 8,
    "quantities": 25,
    "in_place": 61,
    "attended": 56,
    "recurrent": 22,
    "resized": 82,
}
# IREE's bytecode of dispatches takes NaN for a number in `nan_to_num`: against finds that.
# So it does of `fptosi`, which it rounds: the places that a bilinear resize reads.
CAUSES = {("special_values", "vmvx"): "compiler", ("resized", "vmvx"): "compiler"}


def concrete(value):
    return value.detach().numpy().copy() if isinstance(value, torch.Tensor) else None


def check(factory, back_end, folder):
    torch.manual_seed(0)
    module, arguments = factory()
    module.eval()
    flags = [
        "--iree-hal-target-device=local",
        f"--iree-hal-local-target-device-backends={back_end}",
        *TARGETS[back_end],
    ]
    with iree_dbg.torch.compile(module, *arguments, flags=flags, folder=folder) as compiled:
        comparison = compiled.against(module)(*arguments)
        compiled_file = compiled.module
    wrong = []
    cause = CAUSES.get((factory.__name__, back_end), "none")
    if comparison.cause != cause:
        wrong.append(f"expected the cause {cause}: {comparison}")
    if cause == "none":
        different = (it["name"] for it in comparison.tensors if not it["within"])
        wrong += [f"against: {name} differs" for name in different]
    print(f"{len(comparison.results)} results, {len(comparison.tensors)} tensors on the way, ", end="")
    print(f"{comparison.report.summary()}")
    inputs = []
    for number, argument in enumerate(arguments):
        inputs.append(folder / f"input{number}.npy")
        np.save(inputs[-1], argument.numpy())

    def call():
        with torch.no_grad():
            module(*arguments)

    expected = python_lines.eager(FILE, call, concrete)
    program = os.environ["IREE_DBG"]
    walk = python_lines.step_through(program, compiled_file, inputs, FILE, expected, folder)
    # What is computed of a wrong value is another one in the eager run.
    walk.wrong = {*wrong, *(walk.wrong if cause == "none" else ())}
    return walk


def main():
    passed = failed = 0
    for factory in models.MODELS:
        name = factory.__name__
        if sys.argv[1:] and name not in sys.argv[1:]:
            continue
        for back_end in TARGETS:
            with tempfile.TemporaryDirectory() as folder:
                walk = check(factory, back_end, Path(folder))
            is_right = python_lines.judge(f"{name} ({back_end})", AT_LEAST[name], walk)
            passed, failed = (passed + 1, failed) if is_right else (passed, failed + 1)
    print(f"{passed} passed, {failed} failed")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
