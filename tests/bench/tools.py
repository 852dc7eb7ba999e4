"""Shared code of the benchmarks: IREE's tools, ours, modules made from sources, ratios."""

import json
import math
import os
import shutil
import statistics
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
REPOSITORY = HERE.parent.parent
SCRATCH = REPOSITORY / "target" / "bench"
INSTALL = "python3 -m venv .venv && .venv/bin/pip install -r tests/requirements.txt"


def build(profile):
    """Builds the binary to measure."""
    run(["cargo", "build", "--quiet", "--package=iree-dbg", f"--profile={profile}"])
    target = Path(os.environ.get("CARGO_TARGET_DIR", REPOSITORY / "target"))
    return target / ("debug" if profile == "dev" else profile) / "iree-dbg"


def reference_ns(call, seconds):
    """CPU nanoseconds per call, as iree-benchmark-module reports them."""
    flags = ["--benchmark_format=json", "--time_unit=ns", f"--benchmark_min_time={seconds}s"]
    text = run([iree("iree-benchmark-module"), *call, *flags])
    row = json.loads(text[text.index("{") :])["benchmarks"][0]
    return row["cpu_time"] * {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}[row["time_unit"]]


def our_ns(binary, call, seconds):
    return json.loads(run([binary, "bench", *call, f"--time={seconds}", "--json"]))["ns_per_call"]


def our_wall_ns(binary, call, seconds):
    return json.loads(run([binary, "bench", *call, f"--time={seconds}", "--json"]))["wall_ns_per_call"]


def compiled(name, text, flags=()):
    """Writes a source into the target folder and makes a module from it."""
    SCRATCH.mkdir(parents=True, exist_ok=True)
    source = SCRATCH / name
    source.write_text(text)
    module = source.with_suffix(".vmfb")
    if source.suffix == ".vmasm":
        run([iree("iree-as-module"), source, f"--output={module}"])
    else:
        run([iree("iree-compile"), *flags, source, "-o", module])
    return module


def comments(text, mark, separator=": "):
    """The text after the mark in comments."""
    start = f"// {mark}{separator}"
    found = (line.strip() for line in text.splitlines())
    return [line.removeprefix(start) for line in found if line.startswith(start)]


def must_agree(name, binary, call):
    """Checks that both tools print the same results."""
    expected = run([iree("iree-run-module"), *call])
    found = run([binary, "run", *call])
    if expected != found:
        sys.exit(f"error: {name}: iree-run-module prints\n{expected}\niree-dbg run prints\n{found}")


def iree(name):
    """One of IREE's tools: in the checkout's .venv, else on the PATH."""
    path = os.pathsep.join([str(REPOSITORY / ".venv" / "bin"), os.environ.get("PATH", "")])
    return shutil.which(name, path=path) or sys.exit(f"error: {name} is not installed; run: {INSTALL}")


def run(command):
    """The standard output of a program that succeeds."""
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, cwd=REPOSITORY)
    if done.returncode != 0:
        sys.exit(f"error: {' '.join(map(str, command))}\n{done.stdout}{done.stderr}")
    return done.stdout


def in_turns(timings, is_swapped):
    """Takes each timing once, in this order or in reverse."""
    names = list(timings)
    if is_swapped:
        names.reverse()
    return {name: timings[name]() for name in names}


def median(rounds, name):
    return statistics.median(timing[name] for timing in rounds)


def ratio(rounds, name, base):
    """The median over the rounds; None if it was not measured."""
    if name not in rounds[0]:
        return None
    return statistics.median(timing[name] / timing[base] for timing in rounds)


def ratio_text(value):
    return "–" if value is None else f"{value:.3f}"


def geometric_mean(ratios):
    found = [value for value in ratios if value is not None]
    return math.exp(statistics.fmean(map(math.log, found))) if found else None


def table(titles, rows):
    """A table in Markdown: the first column is text, the others are numbers."""
    marks = ["---", *["---:"] * (len(titles) - 1)]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in [titles, marks, *rows])
