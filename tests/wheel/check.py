#!/usr/bin/env python3
"""Checks what `.github/release.py` made for this platform: check.py FOLDER

The wheel is installed into an empty environment, beside stock wheels of IREE, and a model is debugged
from it, with no Rust on the PATH. Then each file is looked into. Works on every platform.
"""

import ctypes
import json
import os
import re
import subprocess
import sys
import tarfile
import tempfile
import venv
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
WINDOWS = sys.platform == "win32"
EXAMPLES = ROOT / "runtime/cli/example"
PROGRAM = "iree-dbg.exe" if WINDOWS else "iree-dbg"


class Environment:
    """An environment of Python with the wheel and IREE in it."""

    def __init__(self, folder, wheel):
        self.programs = folder / "empty" / ("Scripts" if WINDOWS else "bin")
        venv.create(folder / "empty", with_pip=True)
        pins = (ROOT / "tests/requirements.txt").read_text(encoding="utf-8").splitlines()
        iree = [pin for pin in pins if pin.startswith("iree-base-")]
        assert len(iree) == 2, pins
        self.run("python", "-m", "pip", "install", "--quiet", str(wheel), *iree)

    def run(self, program, *arguments, **options):
        """What a program of the environment prints; it must succeed."""
        system = os.environ["PATH"] if WINDOWS else "/usr/bin:/bin"
        surroundings = {name: value for name, value in os.environ.items() if name != "VIRTUAL_ENV"}
        surroundings["PATH"] = f"{self.programs}{os.pathsep}{system}"
        command = [str(self.programs / program), *arguments]
        done = subprocess.run(command, env=surroundings, capture_output=True, text=True, **options)
        assert done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"
        return done.stdout

    def python(self, line):
        """What a line of Python prints."""
        return self.run("python", "-c", line).strip()


def the_program_runs(files, environment):
    answer = environment.run("iree-dbg", "--version")
    assert re.match(r"iree-dbg \d+\.\d+\.\d+ \(commit [0-9a-f]{12}(-changed)?\)\n", answer), answer
    assert environment.run("python", "-m", "iree_dbg", "--version") == answer
    version = environment.python("import iree_dbg; print(iree_dbg.__version__)")
    assert answer.startswith(f"iree-dbg {version} "), (answer, version)


def python_finds_the_program(files, environment):
    found = Path(environment.python("import iree_dbg; print(iree_dbg.find_binary())"))
    assert found.samefile(environment.programs / PROGRAM), found
    marker = environment.python(
        "import iree_dbg, os; print(os.path.isfile(os.path.join(iree_dbg.__path__[0], 'py.typed')))"
    )
    assert marker == "True", "the types of the package are for its users"
    if not WINDOWS:
        line = "import iree_dbg; print(iree_dbg.find_library('iree-dbg-tvm-ffi'))"
        library = ctypes.CDLL(environment.python(line))
        assert library.__tvm_ffi_open, "the library of TVM FFI has its functions"
    failing = (
        "import iree_dbg\n"
        "try: iree_dbg.find_library('nothing')\n"
        "except FileNotFoundError as error: print(error)"
    )
    assert "part of the wheels" in environment.python(failing)


def python_calls_a_function(files, environment):
    module = EXAMPLES / "newton.vmfb"
    line = f"import iree_dbg; print(iree_dbg.open({str(module)!r}).main(2.0, 5))"
    assert environment.python(line).startswith("1.414"), environment.python(line)
    explained = environment.run("iree-dbg", "abi", "explain", str(module), "--json")
    usages = [export["usage"]["python"] for export in json.loads(explained)]
    assert any(".main(" in usage for usage in usages), usages
    for usage in usages:
        if "__init" not in usage:
            assert environment.python(f"import iree_dbg, numpy; print({usage})"), usage


def a_model_is_debugged(files, environment):
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder, "newton.mlir")
        source.write_bytes((EXAMPLES / "newton.mlir").read_bytes())
        commands = ["break newton.mlir:13", "run", "p %guess", "bt"]
        script = [word for command in commands for word in ("-ex", command)]
        call = ["--function=main", "--input=2.0", "--input=5", "--batch", "--no-history"]
        text = environment.run("iree-dbg", "debug", "newton.mlir", *call, *script, cwd=folder)
    assert "at newton.mlir:13:" in text, text
    assert "arith.divf %x, %guess : f32" in text, text
    assert "%guess = 2 : f32" in text, text


def old_systems_can_load_it(files, environment):
    if not sys.platform.startswith("linux"):
        return
    shown = subprocess.check_output([sys.executable, "-m", "auditwheel", "show", str(files.wheel)], text=True)
    verdict = re.search(r'"(manylinux_\d+_\d+)_\w+"', shown)
    assert verdict, shown
    print(f"   auditwheel: {files.wheel.name} runs on {verdict[1]} and newer")
    promised = re.search(r"manylinux_(\d+)_(\d+)_", files.wheel.name)
    found = tuple(map(int, verdict[1].split("_")[1:]))
    if promised:
        assert found <= (int(promised[1]), int(promised[2])), shown


def no_path_of_this_machine_is_inside(files, environment):
    home = os.path.expanduser("~").encode()
    cargo = (os.environ.get("CARGO_HOME") or os.path.expanduser("~/.cargo")).encode()
    strange = re.compile(rb"[ -~]*(?:%s|%s/registry)[ -~]*" % (re.escape(bytes(ROOT)), re.escape(cargo)))
    with zipfile.ZipFile(files.wheel) as archive:
        for name in archive.namelist():
            found = strange.search(archive.read(name))
            assert not found, f"{name}: {found[0][:200]} (home {home})"
        program = next(name for name in archive.namelist() if "/scripts/" in name)
        assert b"cargo/registry/src/" in archive.read(program), "crates have a path without a machine"


def every_file_has_the_same_program(files, environment):
    program = (environment.programs / PROGRAM).read_bytes()
    root = files.archive.name.removesuffix(".tar.gz").removesuffix(".zip")
    with tempfile.TemporaryDirectory() as folder:
        if files.archive.suffix == ".zip":
            zipfile.ZipFile(files.archive).extractall(folder)
        else:
            with tarfile.open(files.archive) as archive:
                archive.extractall(folder)
        inside = Path(folder, root)
        assert (inside / PROGRAM).read_bytes() == program
        assert "iree-dbg" in subprocess.check_output([inside / PROGRAM, "--version"], text=True)
        for name in "LICENSE", "THIRD-PARTY-LICENSES", "README.md", "man/iree-dbg.1", "man/iree-dbg-debug.1", "completions/iree-dbg.zsh":
            assert (inside / name).stat().st_size > 500, name
    for package in files.extensions:
        with zipfile.ZipFile(package) as archive:
            assert archive.read(f"extension/bin/{PROGRAM}") == program, package
            assert 'TargetPlatform="' in archive.read("extension.vsixmanifest").decode()


def the_bill_of_materials_lists_the_crates(files, environment):
    bill = json.loads(files.bill.read_text(encoding="utf-8"))
    assert bill["bomFormat"] == "CycloneDX", bill
    names = {component["name"] for component in bill["components"]}
    assert {"clap", "debug", "vm", "flatbuffers"} <= names, names
    with zipfile.ZipFile(files.wheel) as archive:
        assert any(name.endswith("licenses/LICENSE") for name in archive.namelist())


def the_licences_of_all_parts_are_inside(files, environment):
    components = json.loads(files.bill.read_text(encoding="utf-8"))["components"]
    others = {f"{it['name']} {it['version']}" for it in components if "registry" in it.get("bom-ref", "")}
    assert len(others) > 100, others
    with zipfile.ZipFile(files.wheel) as archive:
        (name,) = [name for name in archive.namelist() if name.endswith("licenses/THIRD-PARTY-LICENSES")]
        text = archive.read(name).decode()
    # Parts that only build scripts use are in the bill, and not in the program.
    listed = set(re.findall(r"(?m)^(\S+ \d[^:\s]*): ", text))
    for part in "clap", "flatbuffers", "serde", "tokio", "zip":
        assert any(name.startswith(f"{part} ") for name in listed), part
    assert len(listed & others) > 100, others - listed
    for package in files.extensions:
        with zipfile.ZipFile(package) as archive:
            shipped = archive.read("extension/THIRD-PARTY-LICENSES.txt").decode()
        assert text.strip() in shipped, package
        assert re.search(r"(?m)^vscode-languageclient \d", shipped), package


class Files:
    """The files of this platform."""

    def __init__(self, folder):
        one = lambda pattern: next(iter(sorted(folder.glob(pattern))), None)  # noqa: E731
        self.wheel = one("*.whl")
        self.archive = one("iree-dbg-*.zip" if WINDOWS else "iree-dbg-*.tar.gz")
        self.bill = one("*.cdx.json")
        self.extensions = sorted(folder.glob("*.vsix"))
        assert self.wheel and self.archive and self.bill and self.extensions, list(folder.iterdir())


TESTS = [
    the_program_runs,
    python_finds_the_program,
    python_calls_a_function,
    a_model_is_debugged,
    old_systems_can_load_it,
    no_path_of_this_machine_is_inside,
    every_file_has_the_same_program,
    the_bill_of_materials_lists_the_crates,
    the_licences_of_all_parts_are_inside,
]


def main():
    files = Files(Path(sys.argv[1]).resolve())
    passed = 0
    with tempfile.TemporaryDirectory() as folder:
        environment = Environment(Path(folder), files.wheel)
        for test in TESTS:
            try:
                test(files, environment)
                passed += 1
            except Exception as error:
                print(f"{test.__name__}: {type(error).__name__}: {error}")
    print(f"{passed} passed, {len(TESTS) - passed} failed")
    sys.exit(passed != len(TESTS))


main()
