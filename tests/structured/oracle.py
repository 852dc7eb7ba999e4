"""Calls functions of a module with IREE's runtime for Python, and compares the results with the expected ones.

usage: oracle.py MODULE '[[FUNCTION, INPUTS, EXPECTED]…]'
"""

import json
import sys

from iree import runtime


def plain(value):
    """A value in the form that JSON gives it."""
    if hasattr(value, "to_host"):
        return value.to_host().tolist()
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    return value


module = runtime.load_vm_flatbuffer_file(sys.argv[1], driver="local-sync")
for function, inputs, expected in json.loads(sys.argv[2]):
    if isinstance(inputs, list):
        inputs = {"args": inputs, "kwargs": {}}
    # A scalar must have the type in the signature.
    arguments = [[float(item) if isinstance(item, int) else item for item in argument]
                 if function == "scale" else argument for argument in inputs["args"]]
    found = plain(module[function](*arguments, **inputs["kwargs"]))
    assert found == expected, f"{function}({inputs}): {found}, expected {expected}"
