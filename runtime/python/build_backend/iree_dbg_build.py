"""Builds the wheel and the source distribution of iree-dbg: a PEP 517 backend around maturin.

maturin builds the program and the wheel. What it does not do is here: building the libraries that
the package loads, keeping paths of this machine out of all of them, and a source distribution with
the whole workspace (maturin knows of the program's crates only).

Settings, as `pip install ./runtime/python --config-settings=profile=release`:

| setting         | takes                                                               |
| --------------- | ------------------------------------------------------------------- |
| `profile`       | the profile of cargo; `dist`, which takes minutes, by default       |
| `target`        | another platform, as Rust names it                                  |
| `compatibility` | as maturin's, `manylinux_2_17` or `pypi`; the wheel is checked      |
| `zig`           | `true` links with zig (`pip install ziglang cargo-zigbuild`), which |
|                 | has the symbols of every glibc                                      |
"""

from __future__ import annotations

import base64
import contextlib
import hashlib
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from pathlib import Path

import maturin

import third_party

PROJECT = Path(__file__).resolve().parent.parent
WORKSPACE = PROJECT.parent.parent
LIBRARIES = PROJECT / "iree_dbg" / "libraries"
# The crates of libraries, with their folders.
CRATES = {"iree-dbg-tvm-ffi": "../tvm-ffi", "iree-dbg-python": "."}
# Libraries that do nothing on Windows.
NOT_FOR_WINDOWS = {"iree-dbg-tvm-ffi"}
# Copied into the project's folder, as a wheel takes no others.
LICENSE = PROJECT / "LICENSE"
# The licences of all that is linked, which are written there.
THIRD_PARTY = PROJECT / "THIRD-PARTY-LICENSES"
# The commit, in a source distribution.
COMMIT = "COMMIT"
# What a source distribution leaves out: these folders, which nothing is built from.
NOT_IN_SOURCES = ("editors/", ".ci/", ".github/")


def get_requires_for_build_wheel(config_settings=None):
    """The linker, if it is asked for; the rest is in pyproject.toml."""
    with _in_project():
        needs = maturin.get_requires_for_build_wheel(config_settings)
    if _is_set(config_settings, "zig"):
        needs += ["ziglang", "cargo-zigbuild"]
    return needs


get_requires_for_build_editable = get_requires_for_build_wheel


def get_requires_for_build_sdist(config_settings=None):
    """Nothing is compiled for it."""
    return []


def prepare_metadata_for_build_wheel(metadata_directory, config_settings=None):
    """The wheel's metadata, by maturin; nothing is compiled."""
    metadata_directory = os.path.abspath(metadata_directory)
    with _in_project():
        third_party.write(THIRD_PARTY, (config_settings or {}).get("target"))
        return maturin.prepare_metadata_for_build_wheel(metadata_directory)


prepare_metadata_for_build_editable = prepare_metadata_for_build_wheel


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    """The wheel, with the program and the libraries."""
    name = _build(maturin.build_wheel, wheel_directory, config_settings)
    _without_places(Path(wheel_directory, name))
    return name


def build_editable(wheel_directory, config_settings=None, metadata_directory=None):
    """A wheel that leaves the package where it is."""
    return _build(maturin.build_editable, wheel_directory, config_settings)


def build_sdist(sdist_directory, config_settings=None):
    """The workspace, with `pyproject.toml` and metadata at its root, where pip looks for them."""
    with tempfile.TemporaryDirectory() as folder:
        metadata = Path(folder, prepare_metadata_for_build_wheel(folder), "METADATA").read_bytes()
    fields = dict(line.split(": ", 1) for line in metadata.decode().splitlines() if ": " in line)
    root = f"iree_dbg-{fields['Version']}"
    project = (PROJECT / "pyproject.toml").read_text(encoding="utf-8")
    backend = PROJECT.relative_to(WORKSPACE).as_posix() + "/build_backend"
    project = project.replace('backend-path = ["build_backend"]', f'backend-path = ["{backend}"]')
    archive = Path(sdist_directory, f"{root}.tar.gz")
    with tarfile.open(archive, "w:gz", format=tarfile.PAX_FORMAT) as tar:
        for name in _sources():
            tar.add(WORKSPACE / name, f"{root}/{name}", recursive=False, filter=_anonymous)
        made = {"PKG-INFO": metadata, "pyproject.toml": project.encode(), COMMIT: _commit().encode()}
        made[THIRD_PARTY.name] = THIRD_PARTY.read_bytes()
        for name, text in made.items():
            entry = tarfile.TarInfo(f"{root}/{name}")
            entry.size = len(text)
            tar.addfile(entry, io.BytesIO(text))
    return archive.name


def _without_places(wheel):
    """Takes the workspace's folder out of the bill of materials, in which maturin names crates by it."""
    place = WORKSPACE.resolve().as_uri().encode()
    with zipfile.ZipFile(wheel) as archive:
        files = [(entry, archive.read(entry)) for entry in archive.infolist()]
    record = next(at for at, (entry, _) in enumerate(files) if entry.filename.endswith(".dist-info/RECORD"))
    lines = files[record][1].decode()
    for at, (entry, data) in enumerate(files):
        if "/sboms/" in entry.filename:
            data = data.replace(place, b"file://")
            files[at] = (entry, data)
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            row = f"{entry.filename},sha256={digest},{len(data)}"
            lines = re.sub(rf"(?m)^{re.escape(entry.filename)},.*$", row, lines)
    files[record] = (files[record][0], lines.encode())
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED) as archive:
        for entry, data in files:
            archive.writestr(entry, data)


def _build(maturin_build, wheel_directory, settings):
    """Builds the libraries, then lets maturin build the program and put both into a wheel."""
    settings = settings or {}
    wheel_directory = os.path.abspath(wheel_directory)
    profile = settings.get("profile", "dist")
    arguments = ["--profile", profile]
    for name in "target", "compatibility":
        if name in settings:
            arguments += [f"--{name}", settings[name]]
    if _is_set(settings, "zig"):
        arguments.append("--zig")
    os.environ.setdefault("IREE_DBG_COMMIT", _commit())
    with _in_project(), _without_paths():
        third_party.write(THIRD_PARTY, settings.get("target"))
        _build_libraries(profile, settings)
        return maturin_build(wheel_directory, {"build-args": arguments})


def _build_libraries(profile, settings):
    """The libraries of CRATES that are there, in the folder that goes into the wheel."""
    crates = {crate for crate, folder in CRATES.items() if (PROJECT / folder / "Cargo.toml").is_file()}
    if "windows" in settings.get("target", sys.platform.replace("win32", "windows")):
        crates -= NOT_FOR_WINDOWS
    shutil.rmtree(LIBRARIES, ignore_errors=True)
    LIBRARIES.mkdir()
    if not crates:
        return
    is_zig = _is_set(settings, "zig")
    command = ["cargo-zigbuild", "zigbuild"] if is_zig else ["cargo", "build"]
    command += ["--profile", profile, "--message-format=json-render-diagnostics"]
    target = settings.get("target")
    if is_zig and target is None:
        # Only a target that is named can have a version of glibc.
        target = subprocess.check_output(["rustc", "--print=host-tuple"], text=True).strip()
    glibc = settings.get("compatibility", "").removeprefix("manylinux_").replace("_", ".")
    if target is not None:
        is_versioned = is_zig and glibc[:1].isdigit() and target.endswith("-gnu")
        command += ["--target", f"{target}.{glibc}" if is_versioned else target]
    for crate in sorted(crates):
        command += ["--package", crate]
    print("Running", *command, flush=True)
    messages = subprocess.run(command, cwd=WORKSPACE, stdout=subprocess.PIPE, text=True, check=True)
    for line in messages.stdout.splitlines():
        message = json.loads(line)
        if message["reason"] != "compiler-artifact" or "cdylib" not in message["target"]["kind"]:
            continue
        for file in message["filenames"]:
            if file.endswith((".so", ".dylib", ".dll")):
                shutil.copy(file, LIBRARIES)
    if len(list(LIBRARIES.iterdir())) != len(crates):
        raise RuntimeError(f"cargo built {sorted(LIBRARIES.iterdir())} for {sorted(crates)}")


def _sources():
    """The files of a source distribution: those that git knows, or those that came in one."""
    try:
        listed = subprocess.check_output(["git", "ls-files", "-z"], cwd=WORKSPACE)
        names = [name for name in listed.decode().split("\0") if name]
    except (OSError, subprocess.CalledProcessError):
        names = []
    if not names:
        made = {"target", ".venv", "__pycache__", "libraries"}
        files = (path.relative_to(WORKSPACE) for path in WORKSPACE.rglob("*") if path.is_file())
        names = [path.as_posix() for path in files if not made & set(path.parts)]
    at_root = {"PKG-INFO", "pyproject.toml", COMMIT, THIRD_PARTY.name}
    return sorted(name for name in names if name not in at_root and not name.startswith(NOT_IN_SOURCES))


def _commit():
    """The commit that this is built from; `-changed` if there are changes, empty if nothing tells it."""
    describe = ["git", "describe", "--always", "--abbrev=12", "--exclude=*", "--dirty=-changed"]
    if (WORKSPACE / ".git").exists():
        with contextlib.suppress(OSError):
            output = subprocess.run(describe, cwd=WORKSPACE, capture_output=True, text=True)
            return output.stdout.strip()
    named = WORKSPACE / COMMIT
    return named.read_text().strip() if named.is_file() else ""


def _anonymous(entry):
    """A file of an archive without its owner and date."""
    entry.uid = entry.gid = entry.mtime = 0
    entry.uname = entry.gname = ""
    return entry


@contextlib.contextmanager
def _in_project():
    """In the folder of pyproject.toml, as maturin expects it, also from a source distribution."""
    before = os.getcwd()
    shutil.copyfile(WORKSPACE / "LICENSE", LICENSE)
    os.chdir(PROJECT)
    try:
        yield
    finally:
        os.chdir(before)


@contextlib.contextmanager
def _without_paths():
    """Panics and debug information have no paths of this machine."""
    before = os.environ.get("CARGO_ENCODED_RUSTFLAGS")
    cargo_home = os.environ.get("CARGO_HOME") or os.path.join(os.path.expanduser("~"), ".cargo")
    flags = before.split("\x1f") if before else os.environ.get("RUSTFLAGS", "").split()
    flags += [f"--remap-path-prefix={WORKSPACE}=iree-dbg", f"--remap-path-prefix={cargo_home}=cargo"]
    os.environ["CARGO_ENCODED_RUSTFLAGS"] = "\x1f".join(flags)
    try:
        yield
    finally:
        del os.environ["CARGO_ENCODED_RUSTFLAGS"]
        if before is not None:
            os.environ["CARGO_ENCODED_RUSTFLAGS"] = before


def _is_set(settings, name):
    return str((settings or {}).get(name, "")).lower() in ("1", "true", "yes")


def main():
    """`iree_dbg_build.py OUT [SETTING=VALUE]...` builds a wheel without pip's isolation."""
    out, *settings = sys.argv[1:]
    os.makedirs(out, exist_ok=True)
    print(build_wheel(out, dict(setting.split("=", 1) for setting in settings)))


if __name__ == "__main__":
    main()
