"""Pictures of arrays for notebooks, and stops as pages: HTML that loads nothing."""

from __future__ import annotations

import base64
import html
import struct
import zlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np

    from ._stops import Stop

#: The most rows and columns of a picture; of more, every second, third, … is shown.
MOST = 128
#: The most variables of a stop that are shown with their pictures.
MOST_VARIABLES = 200
#: NaN, and infinities, in colours that no number has.
NAN, INFINITE = (255, 0, 255), (0, 0, 0)


def image(array: "np.ndarray[Any, Any]") -> str:
    """An array as a picture: blue below zero, red above, NaN magenta, infinities black. Nothing for
    numbers, and for what has no order."""
    import numpy as np

    if array.ndim == 0 or array.size < 2 or array.dtype.kind not in "fiub":
        return ""
    rows = array.reshape(-1, array.shape[-1]) if array.ndim > 1 else array.reshape(1, -1)
    steps = [-(-size // MOST) for size in rows.shape]
    shown = rows[:: steps[0], :: steps[1]].astype(np.float64)
    finite = np.isfinite(shown)
    most = float(np.abs(shown[finite]).max()) if finite.any() else 0.0
    share = np.where(finite, shown, 0.0) / (most or 1.0)
    pixels = np.empty((*shown.shape, 3), np.uint8)
    pale = (255 * (1 - np.abs(share))).astype(np.uint8)
    pixels[..., 0] = np.where(share < 0, pale, 255)
    pixels[..., 1] = pale
    pixels[..., 2] = np.where(share > 0, pale, 255)
    pixels[np.isnan(shown)] = NAN
    pixels[np.isinf(shown)] = INFINITE
    data = base64.b64encode(_png(pixels)).decode()
    height, width = (min(max(size * 4, 12), 256) for size in shown.shape)
    style = f"image-rendering:pixelated;width:{width}px;height:{height}px;border:1px solid #ccc"
    said = html.escape(f"{array.dtype} {list(array.shape)}, at most {most:.3g} from zero")
    return f'<img alt="{said}" title="{said}" style="{style}" src="data:image/png;base64,{data}">'


def _png(pixels: "np.ndarray[Any, Any]") -> bytes:
    """An array of rows, columns and colours as a file of PNG."""
    height, width, _ = pixels.shape

    def chunk(name: bytes, content: bytes) -> bytes:
        whole = name + content
        return struct.pack(">I", len(content)) + whole + struct.pack(">I", zlib.crc32(whole))

    rows = b"".join(b"\0" + row.tobytes() for row in pixels)
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    parts = chunk(b"IHDR", head), chunk(b"IDAT", zlib.compress(rows)), chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + b"".join(parts)


def described(value: Any) -> str:
    """What is said of a value: of an array its type, its range, and how many elements are not finite."""
    import numpy as np

    if not isinstance(value, np.ndarray):
        return repr(value)
    said = f"{value.dtype} {'x'.join(map(str, value.shape))}"
    if value.size == 0 or value.dtype.kind not in "fiub":
        return said
    wide = value.astype(np.float64)
    finite = wide[np.isfinite(wide)]
    if finite.size:
        said += f", {finite.min():.4g} to {finite.max():.4g}, mean {finite.mean():.4g}"
    nans, infinities = int(np.isnan(wide).sum()), int(np.isinf(wide).sum())
    said += f", {nans} NaN" if nans else ""
    return said + (f", {infinities} infinite" if infinities else "")


def of_stop(stop: "Stop") -> str:
    """A stop: its call stack, and the variables of its frame with their pictures."""
    frames = "".join(f"<li>{html.escape(str(frame))}</li>" for frame in stop.frames)
    rows = []
    for name, value in list(stop.locals.items())[:MOST_VARIABLES]:
        dim = ' style="opacity:.6"' if isinstance(value, str) and value.startswith("<") else ""
        cells = f"<td>{html.escape(name)}</td><td{dim}>{html.escape(described(value))}</td>"
        picture = image(value) if hasattr(value, "dtype") else ""
        rows.append(f"<tr>{cells}<td>{picture}</td></tr>")
    stack = f"<details><summary>{html.escape(str(stop.frames[0]))}</summary><ol>{frames}</ol></details>"
    return f"{stack if stop.frames else ''}<table>{''.join(rows)}</table>"
