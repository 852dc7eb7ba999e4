"""A client of the Debug Adapter Protocol, as an editor is one: enough to attach and to stop."""

from __future__ import annotations

import json
import socket
from typing import Any, Dict, List


class Client:
    """Attached to a program, over TCP."""

    def __init__(self, host: str, port: int, token: str | None) -> None:
        self._socket = socket.create_connection((host, port), timeout=30)
        self._input = self._socket.makefile("rb")
        self._seq = 0
        self._events: List[Dict[str, Any]] = []
        self.request("initialize", adapterID="iree", linesStartAt1=True, columnsStartAt1=True)
        arguments = {"token": token} if token else {}
        self._attached = self._send("attach", arguments)
        self.event("initialized")

    def _send(self, command: str, arguments: Dict[str, Any]) -> int:
        self._seq += 1
        message = {"seq": self._seq, "type": "request", "command": command, "arguments": arguments}
        text = json.dumps(message).encode()
        self._socket.sendall(b"Content-Length: %d\r\n\r\n" % len(text) + text)
        return self._seq

    def _receive(self) -> Dict[str, Any]:
        length = 0
        while True:
            line = self._input.readline().strip()
            if not line:
                break
            length = int(line.split(b":")[1])
        if length == 0:
            raise EOFError("the adapter has closed the connection")
        return json.loads(self._input.read(length))

    def request(self, command: str, **arguments: Any) -> Dict[str, Any]:
        """The body of the answer to a request."""
        seq = self._send(command, arguments)
        while True:
            message = self._receive()
            if message["type"] == "event":
                self._events.append(message)
            elif message["request_seq"] == seq:
                assert message["success"], message
                return message.get("body") or {}

    def event(self, name: str) -> Dict[str, Any]:
        """The body of the next event of a name."""
        while True:
            for index, message in enumerate(self._events):
                if message["event"] == name:
                    del self._events[index]
                    return message.get("body") or {}
            message = self._receive()
            if message["type"] == "event":
                self._events.append(message)

    def close(self) -> None:
        self._input.close()
        self._socket.close()
