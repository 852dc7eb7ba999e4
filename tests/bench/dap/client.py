"""A minimal client of the Debug Adapter Protocol, for measurements."""

import json
import subprocess
import sys


class Client:
    """Sends requests, and reads messages while it waits. It has no threads, so measurements show the
    adapter's time and not the time of waking threads."""

    def __init__(self, command, environment=None):
        self.process = subprocess.Popen(
            [str(word) for word in command],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environment,
        )
        self.seq = 0
        self.responses = {}
        self.events = []

    def take(self):
        """Reads a message. Returns whether there was one."""
        stream = self.process.stdout
        header = stream.readline()
        if not header:
            return False
        length = None
        while header.strip():
            name, _, value = header.partition(b":")
            if name.lower() == b"content-length":
                length = int(value)
            header = stream.readline()
        message = json.loads(stream.read(length))
        if message["type"] == "response":
            self.responses[message["request_seq"]] = message
        elif message["type"] == "event":
            self.events.append(message)
        return True

    def send(self, command, arguments=None):
        self.seq += 1
        body = {"seq": self.seq, "type": "request", "command": command, "arguments": arguments or {}}
        text = json.dumps(body).encode()
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(text), text))
        self.process.stdin.flush()
        return self.seq

    def response(self, seq):
        while seq not in self.responses:
            if not self.take():
                sys.exit("error: the adapter has left")
        found = self.responses.pop(seq)
        if not found["success"]:
            sys.exit(f"error: {found['command']}: {found.get('message')}")
        return found.get("body", {})

    def request(self, command, arguments=None):
        return self.response(self.send(command, arguments))

    def event(self, *names):
        """The next event with one of these names. Earlier events are dropped."""
        while True:
            while self.events:
                event = self.events.pop(0)
                if event["event"] in names:
                    return event
            if not self.take():
                sys.exit(f"error: no event {' or '.join(names)}")

    def leave(self):
        self.send("disconnect", {"terminateDebuggee": True})
        self.process.stdin.close()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
