"""A compiled model beside its framework, tensor by tensor.

Three things are compared, each with what can judge it: the results with the framework's; tensors on
the way with those of the same name in the framework; and each dispatch with its own text, on what
it has really read. So a difference can be told apart: the compiler's, that of rounding, or none of
both, which leaves the export.
"""

from __future__ import annotations

import html
import math
from typing import TYPE_CHECKING, Any, Dict, Iterator, List, Optional, Tuple

from ._report import Report
from ._tables import Table

if TYPE_CHECKING:
    import numpy as np

    from ._compiled import Framework
    from ._trace import Trace, Traced

#: How many times as far from float64 as the framework's own results ours may be, and still be no
#: less right: another order of the same sums.
ROUNDING = 4.0

#: What is shown of results, and of tensors on the way.
RESULTS = ("name", "shape", "max_error", "mean_error", "cosine", "psnr", "snr", "within")
TENSORS = ("name", "line", "recomputed", *RESULTS[1:])


#: The comparisons that were made since a test of pytest has begun; None: no one asks for them.
made: "Optional[List[Comparison]]" = None


class Comparison:
    """What `against` has found."""

    def __init__(
        self, framework: "Framework", ours: "Trace", report: Report, rtol: float, atol: float
    ) -> None:
        #: Each dispatch, judged by its own text.
        self.report = report
        results = zip(framework.results, ours.results)
        rows = [_row(name, theirs, mine, rtol, atol) for (name, theirs), mine in results]
        #: The results: a row each.
        self.results = Table(rows, RESULTS)
        paired = _paired(framework, ours, report, rtol, atol)
        #: Tensors on the way whose name says which of the framework's they are: a row each.
        self.tensors = Table(paired, TENSORS)
        self._is_rounding = _is_rounding(framework, ours)
        if made is not None:
            made.append(self)

    @property
    def agrees(self) -> bool:
        """Whether all results lie within the tolerances."""
        return all(row["within"] for row in self.results)

    @property
    def cause(self) -> str:
        """What makes the results differ: `none`, `compiler`, `rounding`, or `unknown`."""
        if self.report.told["first_bad"] is not None:
            return "compiler"
        if self.agrees:
            return "none"
        return "rounding" if self._is_rounding else "unknown"

    @property
    def verdict(self) -> str:
        """What was found, as sentences."""
        count = len(self.results)
        beyond = sum(not row["within"] for row in self.results)
        said = f"{count - beyond} of {count} results agree with the framework. "
        if self.cause == "compiler":
            return said + f"The compiler: {self.report.summary()}."
        if self.cause == "none":
            return said + f"{_sentence(self.report.summary())}."
        if self.cause == "rounding":
            return said + (
                "Rounding: the framework's own results are as far from those in float64, so the"
                " model is ill-conditioned here."
            )
        first = next((row for row in self.tensors if not row["within"]), None)
        at = f" The first tensor that differs is {first['name']}." if first is not None else ""
        return said + (
            f"Not a dispatch that was judged ({self.report.summary()}): the export, or what was"
            f" not judged.{at}"
        )

    def __str__(self) -> str:
        parts = [str(self.results)]
        parts += [str(self.tensors)] if self.tensors else []
        return "\n\n".join([*parts, self.verdict])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        tables = self.results._repr_html_() + (self.tensors._repr_html_() if self.tensors else "")
        return f"<p>{html.escape(self.verdict)}</p>{tables}{self.report.rows._repr_html_()}"

    def to_dict(self) -> Dict[str, Any]:
        """All of it, as JSON has it."""
        return {
            "verdict": self.verdict,
            "cause": self.cause,
            "agrees": self.agrees,
            "results": list(self.results),
            "tensors": list(self.tensors),
            "dispatches": self.report.told,
        }


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]


def _row(name: str, theirs: Any, ours: Any, rtol: float, atol: float) -> Dict[str, Any]:
    """How far an array of ours is from the framework's, which has the same elements in order."""
    import numpy as np

    theirs, ours = np.asarray(theirs), np.asarray(ours)
    row: Dict[str, Any] = {"name": name, "line": None, "shape": list(theirs.shape)}
    if theirs.size != ours.size:
        empty = dict.fromkeys(("scale", "max_error", "mean_error", "cosine", "psnr", "snr"))
        return {**row, **empty, "within": False, "ours": list(ours.shape)}
    a, b = _wide(ours).ravel(), _wide(theirs).ravel()
    with np.errstate(all="ignore"):
        same = (a == b) | (np.isnan(a) & np.isnan(b))
        error = np.where(same, 0.0, np.abs(a - b))
        within = bool(np.all(same | (error <= atol + rtol * np.abs(b))))
        error = np.where(np.isnan(error), np.inf, error)
        finite = np.isfinite(a) & np.isfinite(b)
        a, b = a[finite], b[finite]
        power, noise = float(np.mean(b * b)) if b.size else 0.0, _mean((a - b) ** 2)
        peak = float(np.max(np.abs(b))) if b.size else 0.0
        length = float(np.linalg.norm(a) * np.linalg.norm(b)) if b.size else 0.0
    return {
        **row,
        "scale": peak,
        "max_error": float(np.max(error)) if error.size else 0.0,
        "mean_error": _mean(error),
        "cosine": float(np.dot(a, b)) / length if length else None,
        "psnr": _decibels(peak * peak, noise),
        "snr": _decibels(power, noise),
        "within": within,
    }


def _wide(array: "np.ndarray[Any, Any]") -> "np.ndarray[Any, Any]":
    import numpy as np

    return array.astype(np.complex128 if array.dtype.kind == "c" else np.float64)


def _mean(values: Any) -> float:
    import numpy as np

    return float(np.mean(np.abs(values))) if np.size(values) else 0.0


def _decibels(power: float, noise: float) -> Optional[float]:
    """A ratio of powers in dB; without noise it is infinite, and without power there is none."""
    if power == 0:
        return None
    return math.inf if noise == 0 else 10 * math.log10(power / noise)


def _is_rounding(framework: "Framework", ours: "Trace") -> bool:
    """Whether no result of ours is farther from float64 than the framework's own, but for another
    order of sums."""
    import numpy as np

    if framework.exact is None or len(framework.exact) != len(framework.results):
        return False
    for (_, theirs), mine, exact in zip(framework.results, ours.results, framework.exact):
        if np.size(mine) != np.size(exact):
            return False
        exact = _wide(exact).ravel()
        with np.errstate(all="ignore"):
            own = np.abs(_wide(np.asarray(theirs)).ravel() - exact)
            far = np.abs(_wide(np.asarray(mine)).ravel() - exact)
        if not (np.all(np.isfinite(own)) and np.all(np.isfinite(far))):
            return False
        if own.size and np.max(far) > ROUNDING * np.max(own):
            return False
    return True


def _paired(
    framework: "Framework", ours: "Trace", report: Report, rtol: float, atol: float
) -> Iterator[Dict[str, Any]]:
    """Tensors that both have under a name. Where a name stands for several, they are paired in
    order, and only if both have as many and all agree: else they may be others."""
    lines = {row["number"]: row["line"] for row in report.rows}
    theirs: Dict[Tuple[str, int], List[Any]] = {}
    for name, array in framework.tensors:
        theirs.setdefault((name, array.size), []).append(array)
    mine: Dict[Tuple[str, int], List[Tuple[int, Traced]]] = {}
    for order, it in enumerate(ours.tensors):
        for name in it.names:
            mine.setdefault((name, it.array.size), []).append((order, it))
    found: List[Tuple[int, Dict[str, Any]]] = []
    for key, ordered in mine.items():
        others = theirs.get(key, [])
        if len(others) != len(ordered):
            continue
        rows = []
        for turn, ((order, it), other) in enumerate(zip(ordered, others), start=1):
            name = key[0] if turn == 1 else f"{key[0]}#{turn}"
            row = _row(name, other, it.array, rtol, atol)
            line = lines.get(it.number) if it.line is None else it.line
            rows.append((order, {**row, "line": line, "recomputed": it.bound}))
        if len(rows) == 1 or all(row["within"] for _, row in rows):
            found += rows
    return iter([row for _, row in sorted(found, key=lambda it: it[0])])
