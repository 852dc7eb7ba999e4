"""The text of a program of MLIR, as a framework prints it: lists in a line, and locations."""

from __future__ import annotations

import re
from typing import Callable, Dict, List, NamedTuple, Optional, Tuple

#: Calls that lead to an operation, outermost first: file, line and column, both from 1.
Chain = List[Tuple[str, int, int]]


class Place(NamedTuple):
    """A place of a call, with the function that it is in; without one if that is not said."""

    file: str
    line: int
    column: int
    function: str = ""


#: Lines of a text, each with its index in the text that it was made from.
Numbered = List[Tuple[int, str]]


def parts(text: str) -> List[str]:
    """The parts of a list between commas outside of brackets and quotes."""
    found, depth, is_quoted, begin = [], 0, False, 0
    for at, letter in enumerate(text):
        if letter == '"' and text[at - 1] != "\\":
            is_quoted = not is_quoted
        if is_quoted:
            continue
        depth += (letter in "([{<") - (letter in ")]}" or letter == ">" and text[at - 1] != "-")
        if letter == "," and depth == 0:
            found.append(text[begin:at].strip())
            begin = at + 1
    last = text[begin:].strip()
    return [*found, last] if last else found


#: How many names of a location are looked at.
MOST_NAMES = 8


class Locations:
    """The locations of a program's text: for each line, the calls that lead to its operation."""

    POSITION = re.compile(r'loc\("((?:[^"\\]|\\.)*)":(\d+):(\d+)(?: to .*)?\)$')
    NAMED = re.compile(r'loc\("((?:[^"\\]|\\.)*)"\((#loc\d*)\)\)$')
    CALL = re.compile(r"loc\(callsite\((#loc\d*) at (#loc\d*)\)\)$")
    LABEL = re.compile(r'loc\("((?:[^"\\]|\\.)*)"(?:\(#loc\d*\))?\)$')
    USE = re.compile(r" loc\((#loc\d*)\)$")
    FUNCTION = re.compile(r"  func\.func (?:public|private) @(\S+?|\"[^\"]*\")\(")
    CALLED = re.compile(r"\bcall @(\w+|\"[^\"]*\")\(")

    def __init__(
        self, located: List[str], exporter: str, is_of_library: Callable[[str], bool]
    ) -> None:
        """Reads a text with locations.

        Args:
            exporter: the file of the function that has called the model; what called that is no
                part of it.
            is_of_library: whether code of a file is not the model's.
        """
        self._exporter = exporter
        self._by_name: Dict[str, str] = {}
        self._lines: List[str] = []
        self._is_of_library = is_of_library
        for line in located:
            if line.startswith("#loc"):
                name, location = line.split(" = ", 1)
                self._by_name[name] = location
            else:
                self._lines.append(line)
        self._chains: Dict[str, List[Place]] = {}

    def places(
        self,
        plain: List[str],
        text: Numbered,
        calls_at: Callable[[int], List[Place]] = lambda _: [],
    ) -> Dict[int, Chain]:
        """By the line in the text, from 1. In a function that the framework has traced apart, only
        the calls inside of it.

        Args:
            calls_at: the calls that lead to a line, as far as they were noted. What the framework
                says may begin inside of them, or be of a function that was traced before.
        """
        if len(self._lines) < len(plain):
            return {}
        found: Dict[int, List[Place]] = {}
        function, functions = "", {}
        callers: Dict[str, List[List[Place]]] = {}
        for number, (at, line) in enumerate(text, 1):
            begins = self.FUNCTION.match(line)
            function = begins[1] if begins else function
            use = self.USE.search(self._lines[at])
            chain = self._own(use[1]) if use and not begins else []
            if chain:
                found[number], functions[number] = chain, function
            called = self.CALLED.search(line)
            if called:
                callers.setdefault(called[1], []).append(chain)
        placed: Dict[int, Chain] = {}
        for number, chain in found.items():
            noted = calls_at(number)
            said = _inside(chain, callers.get(functions[number]))
            if not said and noted and _is_one(chain[0], noted[0]):
                # It says only what is inside of the function.
                said = chain
            places = _aligned(said, noted) or noted
            if places:
                placed[number] = [(it.file, it.line, it.column) for it in places]
        return placed

    def innermost_file(self, at: int) -> Optional[str]:
        """The file that the operation of a line by its index is from."""
        use = self.USE.search(self._lines[at]) if at < len(self._lines) else None
        chain = self._chain(use[1]) if use else []
        return chain[-1].file if chain else None

    def number_at(self, at: int, prefix: str) -> Optional[int]:
        """What follows a prefix in the name of the operation of a line by its index."""
        use = self.USE.search(self._lines[at]) if at < len(self._lines) else None
        location = self._by_name.get(use[1], "") if use else ""
        # One name may stand around another.
        for _ in range(MOST_NAMES):
            number = re.match(rf'loc\("[^"]*{prefix}(\d+)/', location)
            named = self.NAMED.match(location)
            if number or not named:
                return int(number[1]) if number else None
            location = self._by_name.get(named[2], "")
        return None

    def line_in(self, file: str, at: int) -> Optional[int]:
        """The line of a file, among the calls that lead to the operation of a line by its index."""
        use = self.USE.search(self._lines[at]) if at < len(self._lines) else None
        chain = self._chain(use[1]) if use else []
        return next((it.line for it in chain if it.file == file), None)

    def labels(self, text: Numbered) -> Dict[str, str]:
        """By its label, the value of each operation whose location is one alone."""
        found: Dict[str, str] = {}
        for at, line in text:
            use = self.USE.search(self._lines[at]) if at < len(self._lines) else None
            label = self.LABEL.match(self._by_name.get(use[1], "")) if use else None
            result = line.split(" = ", 1)[0].strip() if label else ""
            if label and result.startswith("%"):
                found.setdefault(label[1], result)
        return found

    def _own(self, name: str) -> List[Place]:
        """The calls of the model: those inside of this file's function that are no library's."""
        chain = self._chain(name)
        own = [at for at, it in enumerate(chain) if it.file == self._exporter]
        return [it for it in chain[own[-1] + 1 if own else 0 :] if not self._is_of_library(it.file)]

    def _chain(self, name: str) -> List[Place]:
        known = self._chains.get(name)
        if known is not None:
            return known
        # What leads to itself has no place.
        self._chains[name] = []
        location = self._by_name.get(name, "")
        position, named, call = (it.match(location) for it in (self.POSITION, self.NAMED, self.CALL))
        chain: List[Place] = []
        if position:
            chain = [Place(position[1], int(position[2]), int(position[3]) + 1)]
        elif named:
            chain = self._chain(named[2])
            if len(chain) == 1 and not chain[0].function:
                chain = [chain[0]._replace(function=named[1])]
        elif call:
            chain = [*self._chain(call[2]), *self._chain(call[1])]
        self._chains[name] = chain
        return chain


def _is_one(said: Place, noted: Place) -> bool:
    """Whether a place that a framework says is in the function of a call that was noted."""
    names = {it.function.rsplit(".", 1)[-1] for it in (said, noted)}
    return said.file == noted.file and (not said.function or len(names) == 1)


def _aligned(said: List[Place], noted: List[Place]) -> List[Place]:
    """The places that a framework says, with those calls that were noted and that it leaves out,
    and without those that it repeats: an operation of a function that is traced apart has the calls
    of the place where it was traced, once more."""
    pairs = list(zip(said, noted))
    same = next((at for at, pair in enumerate(pairs) if not _is_one(*pair)), len(pairs))
    further = [it for it in said[same:] if not any(_is_one(it, one) for one in noted)]
    return [*said[:same], *(noted[same:] if same < len(pairs) else []), *further]


def _inside(chain: List[Place], callers: Optional[List[List[Place]]]) -> List[Place]:
    """What follows, in a chain, that of the call of its function: a function is traced once, at the
    first of its calls."""
    if callers is None:
        return chain
    prefixes = [it for it in callers if it and it == chain[: len(it)]]
    longest = max(prefixes, key=len, default=None)
    return [] if longest is None else chain[len(longest) :]
