"""Baselines of accuracy: how far a test's comparisons were from the framework, kept in files.

A file has the errors of a test's comparisons (`program.against(f)(x)`), by the names of results and
of tensors on the way. A later run may not be much farther away: what has grown is a change of the
compiler, its flags, or the model, and is said even if it lies within the tolerances of the test.
"""

from __future__ import annotations

import json
import math
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, Dict, List, Sequence

if TYPE_CHECKING:
    from ._comparison import Comparison

#: How many times as large an error may become: another processor has other orders of sums.
GROWTH = 2.0
#: What is no error: some units in the last place of a 32-bit float, relative to the largest element.
TINY = 4 * 2.0**-23


def file_of(folder: Path, test: str) -> Path:
    """The file of a test, by its name in pytest."""
    return folder / (re.sub(r"[^\w.\[\]-]+", "-", test) + ".json")


def errors(comparisons: "Sequence[Comparison]") -> List[Dict[str, Dict[str, Any]]]:
    """The errors of each comparison, by the kind and the name of what was compared."""
    found = []
    for comparison in comparisons:
        rows = {}
        for kind, table in (("result", comparison.results), ("tensor", comparison.tensors)):
            for row in table:
                name = f"{kind} {row['name']}".strip()
                rows[name] = {key: _plain(row[key]) for key in ("max_error", "scale")}
        found.append(rows)
    return found


def _plain(value: Any) -> Any:
    """A number as JSON has it."""
    return value if value is None or math.isfinite(value) else str(value)


def write(path: Path, found: List[Dict[str, Dict[str, Any]]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps({"baseline": 1, "comparisons": found}, indent=1, sort_keys=True)
    path.write_text(text + "\n", encoding="utf-8")


def judge(path: Path, found: List[Dict[str, Dict[str, Any]]]) -> List[str]:
    """What is worse than a file says, a sentence each."""
    if not path.is_file():
        return [f"{path} is not there; write it with --iree-dbg-baseline-update"]
    known = json.loads(path.read_text(encoding="utf-8"))["comparisons"]
    if len(known) != len(found):
        return [f"{path} has {len(known)} comparisons, and the test makes {len(found)}"]
    return [
        said
        for before, now in zip(known, found)
        for name, row in before.items()
        for said in _worse(name, row, now.get(name))
    ]


def _worse(name: str, before: Dict[str, Any], now: Any) -> List[str]:
    if now is None:
        # Another compiler may leave other tensors.
        return [] if name.startswith("tensor") else [f"{name} is no longer there"]
    errors = [math.inf if it["max_error"] is None else float(it["max_error"]) for it in (before, now)]
    scale = float(now["scale"] or 0.0)
    if errors[1] <= max(GROWTH * errors[0], TINY * scale):
        return []
    return [f"{name}: the greatest error was {errors[0]:.3g}, and is {errors[1]:.3g}"]
