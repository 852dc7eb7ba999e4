"""Compares all tensors of models out of packages with ONNX Runtime, as `main.py` does.

    usage: tests/activations/packages.py IREE_DBG [NAME]...

Takes wheels from the package index and the models out of them; sizes that a model leaves open are
set to ordinary ones. Nothing of this is kept. Not a part of the tests, as packages change and go:
a benchmark of how much of real models can be asked for.
"""

import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

import onnx

from main import compare

# A name, the package, the end of the model's path in it, and the sizes that its input leaves open.
MODELS = {
    "magika": ("magika", "model.onnx", [1, 2048]),
    "nudenet": ("nudenet", "320n.onnx", [1, 3, 320, 320]),
    "rxnmap": ("chython-rxnmap", "rxnmap.onnx", [1, 24, 24]),
    "cls": ("rapidocr", "cls_mobile.onnx", [1, 3, 48, 192]),
    "det6": ("rapidocr", "det_small.onnx", [1, 3, 96, 96]),
    "rec6": ("rapidocr", "rec_small.onnx", [1, 3, 48, 96]),
    "det4": ("rapidocr-onnxruntime", "det_infer.onnx", [1, 3, 96, 96]),
    "rec4": ("rapidocr-onnxruntime", "rec_infer.onnx", [1, 3, 48, 96]),
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


def with_sizes(model, sizes):
    """The model with a size for each axis that it leaves open."""
    constants = {it.name for it in model.graph.initializer}
    for value in model.graph.input:
        if value.name in constants:
            continue
        for axis, known in enumerate(value.type.tensor_type.shape.dim):
            if known.dim_value <= 0:
                known.ClearField("dim_param")
                known.dim_value = sizes[axis]
    for value in model.graph.output:
        for axis, known in enumerate(value.type.tensor_type.shape.dim):
            known.ClearField("dim_value")
            known.dim_param = f"{value.name}_{axis}"
    del model.graph.value_info[:]
    return model


def main():
    iree_dbg, *names = sys.argv[1:]
    wrong = missing = 0
    with tempfile.TemporaryDirectory() as folder:
        for name in names or MODELS:
            package, end, sizes = MODELS[name]
            wheels = Path(folder) / package
            wheels.mkdir(exist_ok=True)
            model = with_sizes(model_of(package, end, wheels), sizes)
            outcome = compare(Path(iree_dbg).absolute(), name, model)
            wrong, missing = wrong + outcome[0], missing + outcome[1]
    print(f"{wrong} wrong, {missing} not there")
    sys.exit(wrong > 0)


if __name__ == "__main__":
    main()
