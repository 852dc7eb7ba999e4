"""What `iree-dbg diff --reference` says of a call: each dispatch against what its text means."""

from __future__ import annotations

import html
from typing import Any, Dict, Iterator, Mapping, Optional

from ._tables import Table

#: What a report shows of a tensor.
COLUMNS = ("number", "line", "dispatch", "tensor", "type", "verdict", "worst", "allowed", "reason")


class Report:
    """Each dispatch of a call, judged: what it has left against its own text, evaluated in float64
    on what it has read. A difference is allowed up to a bound of the rounding of that text."""

    def __init__(self, told: Mapping[str, Any]) -> None:
        #: All of it, as the schema `diff` of the command line describes it.
        self.told = told
        #: `within`, `differs`, or why neither can be said.
        self.verdict = str(told["verdict"])
        #: A row for each tensor that was judged, or could not be.
        self.rows = Table(_rows(told), COLUMNS)

    @property
    def first_bad(self) -> Optional[Dict[str, Any]]:
        """The first dispatch that leaves other than what its text means: a row, or None."""
        number = self.told["first_bad"]
        of_it = (row for row in self.rows if row["number"] == number)
        return next((row for row in of_it if row["verdict"] == "differs"), None)

    def __str__(self) -> str:
        return f"{self.rows}\n{self.summary()}"

    __repr__ = __str__

    def summary(self) -> str:
        """What was found, as a sentence."""
        compared, of = (self.told["compared"][key] for key in ("dispatches", "of"))
        bad = self.first_bad
        if bad is not None:
            return accusation(bad)
        if self.told["first_bad"] is not None:
            return f"dispatch {self.told['first_bad']} leaves other than what its text means"
        if compared == 0:
            reason = next((row["reason"] for row in self.rows if row["reason"]), "there are none")
            return f"none of {of} dispatches could be judged: {reason}"
        if compared < of:
            return f"{compared} of {of} dispatches were judged; these compute what their text means"
        return f"all {of} dispatches were judged, and compute what their text means"

    def _repr_html_(self) -> str:
        return f"<p>{html.escape(self.summary())}</p>{self.rows._repr_html_()}"


def accusation(row: Mapping[str, Any]) -> str:
    """What is wrong with a tensor that a dispatch has left."""
    said = f"{place(row)} leaves other than what its text means"
    if row["index"] is None:
        return said
    at = f" at {row['index']}" if row["index"] else ""
    allowed = f", ±{row['allowed']:.3g}" if row["allowed"] is not None else ""
    return f"{said}: {row['ours']}{at}, and that is {row['meant']}{allowed}"


def place(row: Mapping[str, Any]) -> str:
    """A dispatch and the line that it is made of."""
    at = f" ({row['file']}:{row['line']}: {row['text']})" if row["file"] else ""
    return f"dispatch {row['number']}, @{row['dispatch']}{at},"


def _rows(told: Mapping[str, Any]) -> Iterator[Dict[str, Any]]:
    for dispatch in told["dispatches"]:
        source = dispatch["source"] or {}
        shared = {
            "number": dispatch["number"],
            "dispatch": dispatch["name"],
            **{key: source.get(key) for key in ("file", "line", "text")},
        }
        if not dispatch["tensors"]:
            keys = ("tensor", "type", "worst", "allowed", "index", "ours", "meant")
            empty = dict.fromkeys(keys)
            yield {
                **shared,
                **empty,
                "verdict": dispatch["verdict"],
                "reason": dispatch["reason"],
            }
        for tensor in dispatch["tensors"]:
            yield {**shared, **_tensor(tensor)}


def _tensor(tensor: Mapping[str, Any]) -> Dict[str, Any]:
    differences, tolerance = tensor["differences"] or {}, tensor["tolerance"] or {}
    worst = differences.get("worst") or {}
    return {
        "tensor": " = ".join(tensor["names"]) or None,
        "type": tensor["type"],
        "verdict": tensor["verdict"],
        "worst": worst.get("difference", 0.0 if differences else None),
        "allowed": tolerance.get("absolute"),
        "index": worst.get("index"),
        "ours": worst.get("a"),
        "meant": worst.get("b"),
        "reason": tensor["reason"] or tolerance.get("reason"),
    }
