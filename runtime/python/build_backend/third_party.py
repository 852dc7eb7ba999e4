#!/usr/bin/env python3
"""The licences of all that is linked into the program and the libraries, with their texts.

    third_party.py FILE [TARGET]     writes them, for another platform if it is named, as Rust does

Cargo tells which crates are linked, and each crate brings its texts. Equal texts are written once. A
crate without a text is one of a licence whose text is the same for all, and which others bring.
Everything that is shipped has the file: wheels, archives and the packages of VS Code.
"""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

WORKSPACE = Path(__file__).resolve().parent.parent.parent.parent
# What is shipped.
ROOTS = {"iree-dbg", "iree-dbg-python", "iree-dbg-tvm-ffi"}
# How files with licences are called.
TEXTS = re.compile(r"(?i)(un)?licen[cs]e|copying|copyright|notice")
RULE = "=" * 80 + "\n"


def write(file, target=None):
    """Writes the licences of what is linked for a platform, by default this one."""
    Path(file).write_text(text(linked(target)), encoding="utf-8")


def linked(target=None):
    """The crates of others that are linked, as cargo describes them, by name and version."""
    if target is None:
        target = _output(["rustc", "--print=host-tuple"]).strip()
    command = ["cargo", "metadata", "--format-version=1", "--locked", f"--filter-platform={target}"]
    found = json.loads(_output(command))
    packages = {package["id"]: package for package in found["packages"]}
    nodes = {node["id"]: node for node in found["resolve"]["nodes"]}
    members = set(found["workspace_members"])
    waiting = [name for name in members if packages[name]["name"] in ROOTS]
    seen = set(waiting)
    while waiting:
        for used in nodes[waiting.pop()]["deps"]:
            is_linked = any(kind["kind"] is None for kind in used["dep_kinds"])
            if is_linked and used["pkg"] not in seen:
                seen.add(used["pkg"])
                waiting.append(used["pkg"])
    return sorted((packages[name] for name in seen - members), key=lambda it: (it["name"], it["version"]))


def text(crates):
    """The list of crates, then each text with the crates that it belongs to."""
    users = {}
    for crate in crates:
        for name, licence in texts(crate):
            users.setdefault(_normal(licence), (licence, []))[1].append((crate, name))
    bare = [crate for crate in crates if not texts(crate)]
    refused = [_name(crate) for crate in bare if "Apache-2.0" not in _licence(crate)]
    if refused:
        raise RuntimeError(f"no text of a licence comes with {', '.join(refused)}")
    parts = [
        "iree-dbg is under the Apache License 2.0 with LLVM Exceptions: see LICENSE. It has these parts of\n"
        "others, whose licences follow, and Rust's standard library (MIT OR Apache-2.0, taken under\n"
        "Apache-2.0, https://www.rust-lang.org).\n\n"
    ]
    for crate in crates:
        where = crate["repository"] or f"https://crates.io/crates/{crate['name']}"
        parts.append(f"{_name(crate)}: {_licence(crate)}, {where}\n")
    if bare:
        names = ", ".join(map(_name, bare))
        parts.append(
            f"\nWithout a text of their own, and taken under Apache-2.0, whose text is below: {names}\n"
        )
    for licence, files in users.values():
        names = "\n".join(f"{_name(crate)}: {name}" for crate, name in files)
        parts.append(f"\n{RULE}{names}\n{RULE}\n{licence.strip()}\n")
    return "".join(parts)


def texts(crate):
    """The names and texts of a crate's licences."""
    folder = Path(crate["manifest_path"]).parent
    files = {path for path in folder.iterdir() if path.is_file() and TEXTS.match(path.name)}
    named = crate.get("license_file")
    if named and (folder / named).is_file():
        files.add(folder / named)
    sources = (".rs", ".toml", ".py")
    files = sorted(path for path in files if path.suffix not in sources)
    return [(path.name, path.read_text(encoding="utf-8", errors="replace")) for path in files]


def _normal(licence):
    """A text without its layout."""
    return " ".join(licence.split())


def _name(crate):
    return f"{crate['name']} {crate['version']}"


def _licence(crate):
    return (crate["license"] or "see below").replace("/", " OR ")


def _output(command):
    program = os.environ.get("CARGO", "cargo") if command[0] == "cargo" else command[0]
    return subprocess.check_output([program, *command[1:]], cwd=WORKSPACE, text=True, encoding="utf-8")


if __name__ == "__main__":
    write(*sys.argv[1:])
