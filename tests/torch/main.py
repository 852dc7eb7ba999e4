"""`iree_dbg.torch` on the models of `models.py`: `tests/run torch`.

    usage: tests/torch/main.py [MODEL]...

Each model is compiled for machine code and for bytecode, and compared with PyTorch: its results by
`against`, and, as by `tests/jax`, each variable of each Python frame at each stop with what the eager
run has at that line. The library is that of IREE_DBG_PYTHON_LIBRARY, the program that of IREE_DBG.
"""

import contextlib
import os
import sys
import tempfile
import warnings
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
        wrong = hooks_differ(compiled, module, arguments)
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


def hooks_differ(compiled, module, arguments):
    """What hooks meet under names of layers, and what becomes of a layer's result that they replace,
    against the same by torch's own hooks: a sentence for each difference."""
    met, theirs, wrong = {}, {}, []
    paths = {path: layer for path, layer in module.named_modules() if path}
    with contextlib.ExitStack() as hooks, torch.no_grad(), warnings.catch_warnings():
        # A layer whose result no dispatch leaves.
        warnings.filterwarnings("ignore", "the hook")
        for path, layer in paths.items():
            hooks.enter_context(compiled.hook(path, lambda name, array: met.update({name: array})))
            noted = layer.register_forward_hook(lambda _, __, left, at=path: theirs.setdefault(at, left))
            hooks.callback(noted.remove)
        compiled(*arguments)
        module(*arguments)
    common = [path for path in met if isinstance(theirs.get(path), torch.Tensor)]
    for path in common:
        left = theirs[path].numpy()
        if not np.allclose(met[path].ravel(), left.ravel(), equal_nan=True, **python_lines.NEAR):
            wrong.append(f"the hook of {path} has met another tensor")
    for path in common[:1]:
        with compiled.hook(path, lambda _, array: np.full_like(array, 0.5)):
            ours = compiled(*arguments)
        layer = module.get_submodule(path)
        hook = layer.register_forward_hook(lambda _, __, left: torch.full_like(left, 0.5))
        with torch.no_grad():
            expected = module(*arguments)
        hook.remove()
        first = [it[0] if isinstance(it, tuple) else it for it in (ours, expected)]
        if not np.allclose(*map(np.asarray, first), equal_nan=True, **python_lines.NEAR):
            wrong.append(f"with another result of {path}, the program computes another one")
    print(f"{len(common)} of {len(theirs)} layers have hooks, ", end="")
    return wrong


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
