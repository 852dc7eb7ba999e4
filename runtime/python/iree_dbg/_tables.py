"""Tables: rows that print themselves, in a terminal and in a notebook."""

from __future__ import annotations

import html
import math
from typing import Any, Dict, Iterable, List, Mapping, Sequence


class Table(List[Dict[str, Any]]):
    """Rows, each a dictionary with the same keys. It prints as a table, and is one in a notebook."""

    def __init__(self, rows: Iterable[Mapping[str, Any]], columns: Sequence[str]) -> None:
        super().__init__(dict(row) for row in rows)
        #: The keys that are shown, in order.
        self.columns = list(columns)

    def dataframe(self) -> Any:
        """The rows as a `pandas.DataFrame`."""
        import pandas  # type: ignore[import-untyped, import-not-found, unused-ignore]

        return pandas.DataFrame(list(self))

    def __str__(self) -> str:
        cells = [self.columns, *([text(row.get(key)) for key in self.columns] for row in self)]
        widths = [max(len(row[at]) for row in cells) for at in range(len(self.columns))]
        lines = ("  ".join(cell.ljust(width) for cell, width in zip(row, widths)) for row in cells)
        return "\n".join(line.rstrip() for line in lines)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{html.escape(it)}</th>" for it in self.columns)
        return f"<table><tr>{head}</tr>{''.join(map(self._row, self))}</table>"

    def _row(self, row: Mapping[str, Any]) -> str:
        cells = "".join(f"<td>{html.escape(text(row.get(key)))}</td>" for key in self.columns)
        is_bad = row.get("verdict") == "differs" or row.get("within") is False
        style = ' style="background:#fdd"' if is_bad else ""
        return f"<tr{style}>{cells}</tr>"


def text(value: Any) -> str:
    """A cell: numbers with three digits, nothing for what is not there."""
    if value is None:
        return ""
    if isinstance(value, float):
        return str(value) if not math.isfinite(value) else f"{value:.3g}"
    if isinstance(value, (list, tuple)):
        return ", ".join(map(str, value))
    return str(value)
