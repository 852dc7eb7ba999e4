"""A client of `iree-dbg mcp`, by the reference implementation of the protocol: it checks each
answer against the schema that the tool declares, and its size."""

import contextlib
import json

import jsonschema
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

# The most characters of an answer: as data, and as text.
MOST_DATA, MOST_TEXT = 10_000, 6_000


class Refused(Exception):
    """A tool has no answer."""


class Agent:
    """A client that counts its calls."""

    def __init__(self, session, tools):
        self.session = session
        self.tools = {tool.name: tool for tool in tools}
        self.calls = 0
        self.called = set()

    async def ask(self, tool, **arguments):
        """The data of an answer, with its text as `text`."""
        self.calls += 1
        self.called.add(tool)
        result = await self.session.call_tool(tool, arguments)
        text = "".join(part.text for part in result.content)
        assert len(text) <= MOST_TEXT, f"{tool} {arguments}: {len(text)} characters of text"
        if result.is_error:
            raise Refused(text)
        data = result.structured_content
        jsonschema.validate(arguments, self.tools[tool].input_schema)
        jsonschema.validate(data, self.tools[tool].output_schema)
        size = len(json.dumps(data))
        assert size <= MOST_DATA, f"{tool} {arguments}: {size} characters of data"
        return {**data, "text": text}

    async def refused(self, tool, **arguments):
        """The text with which a call is refused."""
        try:
            answer = await self.ask(tool, **arguments)
        except Refused as refused:
            return str(refused)
        raise AssertionError(f"{tool} {arguments} was answered: {answer}")


@contextlib.asynccontextmanager
async def agent(program, folder, *flags, env=None):
    """A server in a folder, and its client."""
    parameters = StdioServerParameters(
        command=str(program), args=["mcp", *flags], cwd=str(folder), env=env
    )
    async with stdio_client(parameters) as streams:
        async with ClientSession(*streams) as session:
            await session.initialize()
            yield Agent(session, (await session.list_tools()).tools)
