#!/usr/bin/env python3
"""Makes what a release consists of. The workflow `release.yml` calls it, and so does `tests/run wheel`.

    release.py build OUT [SETTING=VALUE]...   the files of this machine's platform; settings as in
                                              runtime/python/build_backend/iree_dbg_build.py
    release.py sdist OUT                      the source distribution
    release.py finish OUT [TAG]               checks that all files are of one version, writes SHA256SUMS
    release.py version                        the version that all manifests have

`build` makes, all with the same program:

| file                                      | for                                            |
| ----------------------------------------- | ---------------------------------------------- |
| `iree_dbg-VERSION-py3-none-PLATFORM.whl`  | pip                                            |
| `iree-dbg-VERSION-TARGET.tar.gz` (`.zip`) | all others, with manual and completions        |
| `iree-dbg-VERSION-TARGET.cdx.json`        | the list of the crates in it (CycloneDX)       |
| `iree-dbg-PLATFORM.vsix`                  | VS Code; not with the setting `vsix=false`     |

It needs what requirements.txt beside it lists, Rust, and for VS Code's package npm.
"""

import hashlib
import json
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import tomllib
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
EXTENSION = ROOT / "editors" / "vscode"
SHELLS = ("bash", "zsh", "fish", "powershell", "elvish")
PAGES = ("LICENSE", "README.md", "CHANGELOG.md", "SECURITY.md")

sys.path.insert(0, str(ROOT / "runtime/python/build_backend"))


def main():
    command, *arguments = sys.argv[1:] or ["help"]
    match command, arguments:
        case "build", [out, *settings]:
            build(folder(out), dict(setting.split("=", 1) for setting in settings))
        case "sdist", [out]:
            import iree_dbg_build

            print(iree_dbg_build.build_sdist(folder(out)))
        case "finish", [out, *tag]:
            finish(Path(out), *tag)
        case "version", []:
            print(version())
        case _:
            sys.exit(__doc__)


def folder(name):
    """The folder, as an absolute path, made if it is missing."""
    path = Path(name).resolve()
    path.mkdir(parents=True, exist_ok=True)
    return path


def build(out, settings):
    """All files of this platform."""
    import iree_dbg_build
    import third_party

    has_vsix = settings.pop("vsix", "true") == "true"
    name = f"iree-dbg-{version()}-{settings.get('target') or host()}"
    wheel = out / iree_dbg_build.build_wheel(out, settings)
    with tempfile.TemporaryDirectory() as scratch:
        with zipfile.ZipFile(wheel) as archive:
            program = unpack(archive, "/scripts/iree-dbg", Path(scratch))
            bill = unpack(archive, "/sboms/iree-dbg", Path(scratch))
        program.chmod(0o755)
        print(subprocess.check_output([program, "--version"], text=True), end="")
        shutil.copyfile(bill, out / f"{name}.cdx.json")
        licences = Path(scratch, "THIRD-PARTY-LICENSES")
        third_party.write(licences, settings.get("target"))
        made = [wheel, out / f"{name}.cdx.json", pack(out, name, program, licences)]
        if has_vsix:
            made += extension(out, program, licences)
    for file in made:
        print(f"{file.stat().st_size:>12,} {file.name}")


def unpack(archive, part, to):
    """The one file of an archive whose path has this part."""
    (entry,) = [entry for entry in archive.infolist() if part in entry.filename]
    target = to / Path(entry.filename).name
    target.write_bytes(archive.read(entry))
    return target


def pack(out, name, program, licences):
    """The archive with program, manual and completions."""
    with tempfile.TemporaryDirectory() as scratch:
        inside = Path(scratch, name)
        (inside / "completions").mkdir(parents=True)
        shutil.copy(program, inside)
        for page in PAGES:
            shutil.copy(ROOT / page, inside)
        shutil.copy(licences, inside)
        subprocess.run([program, "man", f"--directory={inside / 'man'}"], check=True)
        for shell in SHELLS:
            script = subprocess.check_output([program, "completions", shell])
            (inside / "completions" / f"iree-dbg.{shell}").write_bytes(script)
        kind = "zip" if program.suffix == ".exe" else "gztar"
        return Path(shutil.make_archive(str(out / name), kind, scratch, name))


def extension(out, program, licences):
    """VS Code's packages with the program inside."""
    npm = shutil.which("npm")
    if npm is None:
        sys.exit("error: npm is not installed; vsix=false leaves VS Code's package out")
    if not (EXTENSION / "node_modules").is_dir():
        install = [npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund"]
        subprocess.run(install, cwd=EXTENSION, check=True)
    before = set(out.glob("*.vsix"))
    command = [npm, "run", "package", "--", "--out", str(out), "--licences", str(licences), str(program)]
    subprocess.run(command, cwd=EXTENSION, check=True)
    made = sorted(set(out.glob("*.vsix")) - before)
    if not made:
        sys.exit("error: npm run package made no new package")
    return made


def finish(out, tag=None):
    """Checks the files of all platforms, and writes their checksums."""
    wanted = version()
    if tag is not None and tag != f"v{wanted}":
        sys.exit(f"error: the tag {tag} is not v{wanted}, the version of Cargo.toml")
    if f"\n## {wanted}" not in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8") and tag is not None:
        sys.exit(f"error: CHANGELOG.md has no section `## {wanted}`")
    files = sorted(path for path in out.iterdir() if path.name != "SHA256SUMS")
    for path in files:
        found = version_of(path)
        if found != wanted:
            sys.exit(f"error: {path.name} is of version {found}, Cargo.toml of {wanted}")
    sums = [f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in files]
    (out / "SHA256SUMS").write_text("".join(sums), newline="\n")
    print(*sums, sep="", end="")


def version_of(path):
    """The version of a file, by what is in it or by its name."""
    if path.suffix == ".vsix":
        with zipfile.ZipFile(path) as archive:
            return json.loads(archive.read("extension/package.json"))["version"]
    if path.suffix == ".whl":
        with zipfile.ZipFile(path) as archive:
            (name,) = [name for name in archive.namelist() if name.endswith(".dist-info/METADATA")]
            metadata = archive.read(name).decode()
    elif path.name.startswith("iree_dbg-"):
        with tarfile.open(path) as archive:
            (name,) = [name for name in archive.getnames() if name.endswith("/PKG-INFO")]
            metadata = archive.extractfile(name).read().decode()
    else:
        return path.name.split("-")[2]
    return re.search(r"^Version: (.*)$", metadata, re.MULTILINE)[1]


def version():
    """The version of Cargo.toml, which the extension's package.json has, too."""
    cargo = tomllib.loads((ROOT / "Cargo.toml").read_text(encoding="utf-8"))
    found = cargo["workspace"]["package"]["version"]
    theirs = json.loads((EXTENSION / "package.json").read_text(encoding="utf-8"))["version"]
    if theirs != found:
        sys.exit(f"error: editors/vscode/package.json has version {theirs}, Cargo.toml {found}")
    return found


def host():
    """This platform, as Rust names it."""
    return subprocess.check_output(["rustc", "--print=host-tuple"], text=True).strip()


if __name__ == "__main__":
    main()
