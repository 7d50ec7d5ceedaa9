"""What an agent did in one message of a chat application, as messages: texts, thoughts and calls with their results."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from evaluation_assets.core.traces.formats.envelopes.envelope import plain_message
from evaluation_assets.core.traces.formats.transcript import as_text
from evaluation_assets.core.traces.trajectories.model import JsonObject


@dataclass(slots=True)
class Turn:
    """Collects what an agent said and did, in order. A text after a call begins another message."""

    _messages: list[JsonObject] = field(default_factory=list)
    _texts: list[str] = field(default_factory=list)
    _thoughts: list[str] = field(default_factory=list)
    _calls: list[JsonObject] = field(default_factory=list)
    _results: list[JsonObject] = field(default_factory=list)

    def said(self, text: str) -> None:
        """A text."""
        if text.strip():
            self._end_of_calls()
            self._texts.append(text)

    def thought(self, text: str) -> None:
        """A text that is reasoning."""
        if text.strip():
            self._end_of_calls()
            self._thoughts.append(text)

    def called(self, name: Any, arguments: Any, call_id: Any = None) -> None:
        """A call."""
        if self._results:
            self._end_of_calls()
        self._calls.append({"id": call_id, "name": name, "arguments": arguments})

    def returned(self, result: Any, call_id: Any = None, *, failed: bool = False) -> None:
        """The result of a call."""
        self._results.append(plain_message("tool", as_text(result), tool_call_id=call_id, is_error=failed or None))

    def messages(self, **last: Any) -> Iterator[JsonObject]:
        """All messages; the last of the agent has these fields."""
        self._end()
        place = max((n for n, each in enumerate(self._messages) if each["role"] == "assistant"), default=None)
        for n, message in enumerate(self._messages):
            yield {**message, **last} if n == place else message

    def _end_of_calls(self) -> None:
        if self._calls or self._results:
            self._end()

    def _end(self) -> None:
        if self._texts or self._thoughts or self._calls:
            said = plain_message("assistant", "\n".join(self._texts))
            thought = {"reasoning_content": "\n\n".join(self._thoughts)} if self._thoughts else {}
            self._messages.append({**said, **thought, **({"tool_calls": self._calls} if self._calls else {})})
        self._messages += self._results
        self._texts, self._thoughts, self._calls, self._results = [], [], [], []
