"""Where this installation keeps its program and its libraries."""

from __future__ import annotations

import importlib.metadata
import sys
import sysconfig
from pathlib import Path

_PROGRAM = "iree-dbg" + (sysconfig.get_config_var("EXE") or "")
_LIBRARIES = Path(__file__).parent / "libraries"


def version() -> str:
    """The version of this package, which is that of its program."""
    try:
        return importlib.metadata.version("iree-dbg")
    except importlib.metadata.PackageNotFoundError:
        # A clone of the repository, used where it lies.
        manifest = Path(__file__).resolve().parents[3] / "Cargo.toml"
        lines = manifest.read_text(encoding="utf-8").splitlines()
        return next(line.split('"')[1] for line in lines if line.startswith("version = "))


def find_binary() -> str:
    """The path of the program `iree-dbg` that was installed with this package.

    Another program of the same name on the PATH is not taken: it may be of another version.

    Raises:
        FileNotFoundError: if it is in none of the places where installers put programs.
    """
    places = _places()
    for place in places:
        program = place / _PROGRAM
        if program.is_file():
            return str(program)
    listed = ", ".join(map(str, places))
    raise FileNotFoundError(
        f"{_PROGRAM} is not in {listed}; install it again: pip install --force-reinstall iree-dbg"
    )


def find_library(name: str) -> str:
    """The path of a library of this package by the name of its crate, as `iree-dbg-tvm-ffi`.

    `tvm_ffi.load_module(iree_dbg.find_library("iree-dbg-tvm-ffi"))` loads the one of TVM FFI.

    Raises:
        FileNotFoundError: if this installation has no such library.
    """
    prefix, suffix = {
        "win32": ("", ".dll"),
        "darwin": ("lib", ".dylib"),
    }.get(sys.platform, ("lib", ".so"))
    library = _LIBRARIES / f"{prefix}{name.replace('-', '_')}{suffix}"
    if library.is_file():
        return str(library)
    raise FileNotFoundError(f"{library} is not there; it is part of the wheels of iree-dbg")


def _places() -> list[Path]:
    """The folders of programs, the likeliest first."""
    package = Path(__file__).resolve().parent
    places = [Path(sysconfig.get_path("scripts"))]
    # `pip install --user`; `get_preferred_scheme` needs Python 3.10
    if sys.platform == "win32":
        scheme = "nt_user"
    elif sys.platform == "darwin" and getattr(sys, "_framework", ""):
        scheme = "osx_framework_user"
    else:
        scheme = "posix_user"
    places.append(Path(sysconfig.get_path("scripts", scheme=scheme)))
    # `pip install --prefix` and `--target`: PREFIX/lib/python3.x/site-packages/iree_dbg
    scripts = "Scripts" if sys.platform == "win32" else "bin"
    places.append(package.parent / scripts)
    places.extend(parent / scripts for parent in list(package.parents)[1:4])
    return list(dict.fromkeys(places))
