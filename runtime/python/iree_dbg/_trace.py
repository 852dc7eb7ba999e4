"""The tensors that the dispatches of a call leave, by their names."""

from __future__ import annotations

import html
import io
import json
import os
import tempfile
import zipfile
from typing import TYPE_CHECKING, Any, Dict, Iterator, List, Mapping, NamedTuple, Optional, Sequence

from ._command_line import failed, on_call
from ._convert import tensors_of
from ._tables import Table

if TYPE_CHECKING:
    import numpy as np

    from ._program import Function
    from ._stops import Dispatch


#: The most tensors of a call that are shown as pictures.
MOST_PICTURES = 50


class Traced(NamedTuple):
    """A tensor that a dispatch has left."""

    #: Its names, those of the source first, without a `%`; empty if it has none.
    names: List[str]
    #: The dispatch, and its number among those of the call, from 1; 0 if it is not known.
    dispatch: str
    number: int
    array: "np.ndarray[Any, Any]"
    #: The line of the source.
    line: Optional[int] = None
    #: If no dispatch has left it, but the debugger has computed it again: how far a correct program
    #: may be away.
    bound: Optional[float] = None


class Trace:
    """The tensors of a call, in order: `trace["scores"]` is an array. In a notebook it is a table."""

    def __init__(self, results: List[Any], tensors: List[Traced]) -> None:
        self.results = results
        self.tensors = tensors

    def table(self) -> Table:
        """A row for each tensor: its names, its line, its type, and whether it was recomputed."""
        rows = [
            {
                "name": " = ".join(it.names),
                "line": it.line,
                "shape": list(it.array.shape),
                "dtype": str(it.array.dtype),
                "recomputed": it.bound,
            }
            for it in self.tensors
        ]
        return Table(rows, ("name", "line", "shape", "dtype", "recomputed"))

    def __getitem__(self, name: str) -> Any:
        return self.by_name()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.by_name())

    def __len__(self) -> int:
        return len(self.tensors)

    def __repr__(self) -> str:
        return str(self.table())

    def _repr_html_(self) -> str:
        from ._pictures import image

        page = self.table()._repr_html_()
        for it in self.tensors[:MOST_PICTURES]:
            if picture := image(it.array):
                page += f"<p>{html.escape(' = '.join(it.names) or it.dispatch)} {picture}</p>"
        return page

    def by_name(self) -> Dict[str, Any]:
        """The arrays by name; the second of a name is `x#2`. Numbers of values are no names if there
        are others."""
        arrays: Dict[str, Any] = {}
        counts: Dict[str, int] = {}
        for it in self.tensors:
            names = it.names or [f"@{it.dispatch}"]
            name = next((name for name in names if not name.isdigit()), names[0])
            counts[name] = counts.get(name, 0) + 1
            arrays[name if counts[name] == 1 else f"{name}#{counts[name]}"] = it.array
        return arrays


def trace(function: "Function", args: Sequence[Any], kwargs: Mapping[str, Any]) -> Trace:
    """Calls a function, and keeps what each dispatch leaves."""
    import numpy as np

    tensors: List[Traced] = []
    number = 0

    def collect(dispatch: "Dispatch") -> None:
        nonlocal number
        number += 1
        told = function._program._ask("tensors", elements=True)
        arrays = tensors_of(told)
        for row in told["values"]:
            if row.get("tensor") is not None:
                names = names_of(row)
                array = np.array(arrays[row["tensor"]])
                tensors.append(Traced(names, str(row["dispatch"]), number, array))

    with function._program.on_dispatch(collect):
        results = function(*args, **kwargs)
    as_list = list(results) if isinstance(results, tuple) else [results]
    return Trace(as_list, tensors)


def activations(function: "Function", args: Sequence[Any], kwargs: Mapping[str, Any]) -> Trace:
    """Every tensor that the source of a function names, of a call in a process of its own."""
    import numpy as np

    with tempfile.TemporaryDirectory(prefix="iree-dbg-") as folder:
        path = os.path.join(folder, "tensors.npz")
        ran = on_call(
            function, args, kwargs, ["tensors", "--all", "--format=npz", f"--output={path}"]
        )
        if not os.path.exists(path):
            raise failed(ran)
        with zipfile.ZipFile(path) as archive:
            rows = json.loads(archive.read("tensors.json"))
            # An element type that NumPy lacks is stored as bytes, with its type beside it.
            arrays = {
                row["npy"]: np.load(io.BytesIO(archive.read(row["npy"])))
                for row in rows
                if row.get("npy")
            }
    tensors = [
        Traced(
            names_of(row),
            row["dispatch"],
            0,
            arrays[row["npy"]],
            row["line"],
            row["recomputed"],
        )
        for row in rows
        if row.get("npy") in arrays
    ]
    return Trace([], tensors)


def names_of(row: Mapping[str, Any]) -> List[str]:
    """The names of a tensor: in the source, then in the framework's layers."""
    names = [plain(name) for name in row["names"]] + list(row.get("layers", ()))
    return list(dict.fromkeys(names))


def plain(name: str) -> str:
    """A name of the source without its `%` and its quotes."""
    name = name.lstrip("%")
    return name[1:-1] if len(name) > 1 and name[0] == name[-1] == '"' else name
