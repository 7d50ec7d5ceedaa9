r"""Calls that models write as the special tokens of their chat templates, where no server has parsed them.

    <｜tool▁call▁begin｜>function<｜tool▁sep｜>search\n```json\n{"q": 1}\n```<｜tool▁call▁end｜>          DeepSeek
    <|tool_call_begin|>functions.search:0<|tool_call_argument_begin|>{"q": 1}<|tool_call_end|>      Kimi
    <|channel|>commentary to=functions.search <|constrain|>json<|message|>{"q": 1}<|call|>          gpt-oss
    [TOOL_CALLS][{"name": "search", "arguments": {"q": 1}}]   [TOOL_CALLS]search[ARGS]{"q": 1}      Mistral
    <|python_tag|>{"name": "search", "parameters": {"q": 1}}                                        Llama
    <|tool_call|>[{"name": "search", "arguments": {"q": 1}}]   <TOOLCALL>[...]   <tool_calls>[...]  Granite and others
    <invoke name="search"><parameter name="q">1</parameter></invoke>                                as for Claude
    <functioncall> {"name": "search", "arguments": '{"q": 1}'}                                      Glaive

What stands in code of Markdown is quoted.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

from evaluation_assets.core.traces.formats.messages.chat import role_of
from evaluation_assets.core.traces.formats.messages.contents import split_thought
from evaluation_assets.core.traces.formats.messages.elements import element_in, elements_in
from evaluation_assets.core.traces.formats.messages.function_elements import text_of
from evaluation_assets.core.traces.formats.untyped import as_object, at, decoded, first_text, listed, object_in, parsed
from evaluation_assets.core.traces.trajectories.model import JsonObject

_BAR = "[｜|]"
_OPENINGS = (
    rf"<{_BAR}tool[▁_]call[▁_]begin{_BAR}>",
    r"<\|channel\|>(?=[^<]*(?:<\|constrain\|>[^<]*)?<\|message\|>)",
    r"\[TOOL_CALLS\]",
    r"<\|python_tag\|>",
    r"<functioncall>",
    r"(?:<\|tool_call\|>|<TOOLCALL>|<tool_calls>|<\|START_ACTION\|>|<\|action_start\|>\s*<\|plugin\|>)(?=\s*[\[{])",
    r"^[ \t]*<(?P<prefix>[^<>\s\"/]{0,20}?)invoke name=\"",
)
_HINTS = (
    "tool_call", "tool▁call", "TOOL", "<functioncall>", "<|channel|>", "<|python_tag|>", "invoke name=",
    "<|START_ACTION|>", "<|action_start|>",
)  # fmt: skip
"""Texts of which every opening has one: a cheap look before the search."""

_FENCE_OR_OPENING = re.compile(rf"^[ \t]*(?P<fence>```|~~~)|(?P<opening>{'|'.join(_OPENINGS)})", re.MULTILINE)

_CALL = re.compile(
    rf"<{_BAR}tool[▁_]call[▁_]begin{_BAR}>(.*?)"
    rf"(?:(<{_BAR}tool[▁_]call[▁_]end{_BAR}>)|(?=<{_BAR}tool[▁_]calls?[▁_](?:begin|end|section))|\Z)",
    re.DOTALL,
)
_SECTION = re.compile(
    rf"<{_BAR}tool[▁_]calls[▁_](?:section[▁_])?(?:begin|end){_BAR}>|<｜end▁of▁sentence｜>|<\|im_end\|>"
)
_ARGUMENTS = "<|tool_call_argument_begin|>"
_SEPARATOR = re.compile(rf"<{_BAR}tool[▁_]sep{_BAR}>")
_NUMBERED = re.compile(r"(?:functions\.)?(.+?)(?::\d+)?\Z", re.DOTALL)
_FENCED = re.compile(r"\A```(?:json)?\s*(.*?)\s*(?:```)?\Z", re.DOTALL)

_CHANNEL = re.compile(
    r"(?:<\|start\|>([^<]*))?<\|channel\|>([^<]*)(?:<\|constrain\|>[^<]*)?<\|message\|>(.*?)"
    r"(?=<\|start\|>|<\|channel\|>|\Z)",
    re.DOTALL,
)
_ENDED = re.compile(r"<\|(?:call|end|return)\|>")
_RECIPIENT = re.compile(r"\bto=(?:functions\.)?(\S+)")

_MISTRAL, _BEGINS_CALL = (
    "[TOOL_CALLS]",
    re.compile(r"\s*([\w.:/-]+)(?:\[CALL_ID\](\w+))?(?:\[ARGS\])?\s*(\{.*)", re.DOTALL),
)
_LLAMA_END = re.compile(r"<\|(?:eom_id|eot_id)\|>")
_BUILT_IN = re.compile(r"\s*([\w.]+)\.call\((.*)\)\s*", re.DOTALL)
_GIVEN = re.compile(r"(\w+)\s*=\s*\"((?:[^\"\\]|\\.)*)\"")
_SECTION_OPENS, _LISTS = re.compile(_OPENINGS[0]), re.compile(_OPENINGS[5])
_LIST_ENDS = re.compile(
    r"<\|/tool_call\|>|</TOOLCALL>|</tool_calls>|<\|END_ACTION\|>|<\|action_end\|>|<\|end_of_text\|>"
)
_GLAIVE = "<functioncall>"
_QUOTED = re.compile(r"\s*\{\s*\"name\":\s*\"([^\"]*)\",\s*\"arguments\":\s*'(.*)'\s*\}\s*", re.DOTALL)
_WRAPPERS = re.compile(r"</?[^<>\s\"/]{0,20}(?:function_calls|tool_calls|tool_call)>")
_NAME = re.compile(r"\bname=\"([^\"]*)\"")
_OUTPUTS = re.compile(rf"</?{_BAR}tool[▁_]outputs[▁_](?:begin|end){_BAR}>")
_OUTPUT = re.compile(rf"<{_BAR}tool[▁_]output[▁_](begin|end){_BAR}>")
_RESULTS = "function_results"


@dataclass(frozen=True, slots=True)
class TokenCalls:
    """The calls of a message with what else it says and thinks."""

    calls: tuple[JsonObject, ...]
    words: str = ""
    thought: str | None = None


def has_token_calls(messages: Sequence[Any]) -> bool:
    """Whether models write calls as tokens. Where others are parsed, those that are not were never run."""
    spoken = (_spoken(message) for message in messages)
    return not any(at(message, "tool_calls") for message in messages) and any(one is not None for one in spoken)


def with_token_calls(messages: Sequence[Any]) -> Iterator[Any]:
    """The messages with calls in tokens as calls, and with results in elements or tokens as messages of tools."""
    answered = {name for message in messages if (name := first_text(message, "tool_call_id")) is not None}
    for message in messages:
        kept = {key: value for key, value in object_in(message).items() if key not in ("content", "value", "from")}
        spoken, role = _spoken(message), role_of(message)
        results, rest = results_in(_text(message)) if role in ("tool", "user") else ([], "")
        if spoken is not None:
            calls = [_without_id(call) if call.get("id") not in answered else call for call in spoken.calls]
            thought = {} if spoken.thought is None else {"reasoning": spoken.thought}
            yield {**kept, "role": "assistant", "content": spoken.words, "tool_calls": calls, **thought}
        elif results:
            yield from ({**kept, "role": "tool", **result} for result in results)
            if rest.strip() and role == "user":
                yield {**kept, "role": "user", "content": rest.strip()}
        else:
            yield message


def unread_in(messages: Sequence[Any]) -> int:
    """How many messages of agents have a call in tokens that is not read, or no result but a message of the user."""
    is_read = has_token_calls(messages)
    return sum(_is_unread(message, after, is_read=is_read) for message, after in pairwise([*messages, None]))


def _is_unread(message: Any, after: Any, *, is_read: bool) -> bool:
    if role_of(message) != "assistant" or opening_in(split_thought(_text(message))[1]) is None:
        return False
    spoken = _spoken(message) if is_read else None
    return spoken is None or (bool(spoken.calls) and role_of(after) == "user" and not results_in(_text(after))[0])


def _spoken(message: Any) -> TokenCalls | None:
    if role_of(message) != "assistant":
        return None
    thought, said = split_thought(_text(message))
    spoken = token_calls(said)
    if spoken is None:
        return None
    return replace(spoken, thought="\n\n".join(filter(None, (thought, spoken.thought))) or None)


def _text(message: Any) -> str:
    return text_of(message) or first_text(message, "value") or ""


def _without_id(call: JsonObject) -> JsonObject:
    return {key: value for key, value in call.items() if key != "id"}


class _Malformed(ValueError):
    """A call is cut off, or none that its tokens announce."""


def opening_in(text: str) -> re.Match[str] | None:
    """Where the first call, or the first channel of gpt-oss, begins that is not quoted."""
    if not any(hint in text for hint in _HINTS):
        return None
    is_fenced = is_inline = False
    position = 0
    for match in _FENCE_OR_OPENING.finditer(text):
        line = text.rfind("\n", position, match.start())
        ticks = text.count("`", max(position, line), match.start())
        is_inline = (is_inline and line < 0) != (ticks % 2 == 1)
        position = match.start()
        if match["fence"] is not None:
            is_fenced = not is_fenced
        elif not is_fenced and not is_inline:
            return match
    return None


def token_calls(text: str) -> TokenCalls | None:
    """The calls of an agent's text; `None` if it has none, or one that is cut off."""
    opening = opening_in(text)
    if opening is None:
        return None
    before, rest = text[: opening.start()], text[opening.start() :]
    try:
        return _reader(opening)(before, rest, opening["prefix"] or "")
    except _Malformed:
        return None


def _reader(start: re.Match[str]) -> Callable[[str, str, str], TokenCalls]:
    opening = start["opening"].lstrip()
    if opening.startswith("<|channel"):
        return _channels
    if opening == _MISTRAL:
        return _mistral
    if opening == "<|python_tag|>":
        return _llama
    if opening == _GLAIVE:
        return _glaive
    if "invoke" in opening:
        return _invoked
    return _sections if _SECTION_OPENS.match(opening) else _listed


def _sections(before: str, rest: str, _: str) -> TokenCalls:
    """DeepSeek and Kimi."""
    calls: list[JsonObject] = []
    for body, end in _CALL.findall(rest):
        head, is_kimi, arguments = body.partition(_ARGUMENTS)
        call: JsonObject = {}
        if is_kimi:
            numbered = _NUMBERED.match(head.strip())
            call = {"name": numbered[1] if numbered else "", "id": head.strip()}
        elif len(pieces := _SEPARATOR.split(body, maxsplit=1)) == 2:
            name, arguments = pieces if pieces[0].strip() != "function" else pieces[1].strip().partition("\n")[::2]
            call = {"name": name.strip()}
        fenced = _FENCED.match(arguments.strip())
        arguments = fenced[1] if fenced else arguments.strip()
        if not call.get("name") or not (end or as_object(arguments)):
            raise _Malformed
        calls.append({**call, "arguments": arguments})
    return TokenCalls(tuple(calls), _SECTION.sub("", before + _CALL.sub("", rest)).strip())


def _channels(before: str, rest: str, _: str) -> TokenCalls:
    """Harmony of gpt-oss: reasoning, calls and words in channels."""
    start = before.rfind("<|start|>")
    if start >= 0 and "<" not in before[start + 9 :]:
        before, rest = before[:start], before[start:] + rest
    calls: list[JsonObject] = []
    thoughts: list[str] = []
    words = [before.strip()]
    for role, channel, content in _CHANNEL.findall(rest):
        end = _ENDED.search(content)
        said = content[: end.start()] if end else content
        recipient = _RECIPIENT.search(f"{role} {channel}")
        if recipient is not None and end is None and as_object(said) is None:
            raise _Malformed
        if recipient is not None:
            calls.append({"name": recipient[1], "arguments": said.strip()})
        else:
            (thoughts if channel.split()[:1] == ["analysis"] else words).append(said.strip())
    return TokenCalls(tuple(calls), "\n\n".join(filter(None, words)), "\n\n".join(filter(None, thoughts)) or None)


def _mistral(before: str, rest: str, _: str) -> TokenCalls:
    calls: list[JsonObject] = []
    for body in rest.split(_MISTRAL)[1:]:
        body = body.strip().removesuffix("</s>").rstrip()
        if isinstance(several := decoded(body), list):
            if not several or not all(isinstance(at(call, "name"), str) for call in several):
                raise _Malformed
            calls += several
        elif (named := _BEGINS_CALL.fullmatch(body)) is not None and as_object(named[3]) is not None:
            identity = {} if named[2] is None else {"id": named[2]}
            calls.append({"name": named[1], "arguments": named[3], **identity})
        else:
            raise _Malformed
    return TokenCalls(tuple(calls), before.strip())


def _llama(before: str, rest: str, _: str) -> TokenCalls:
    """A call as JSON, one of a built-in tool, or Python code."""
    calls: list[JsonObject] = []
    for body in filter(None, map(str.strip, _LLAMA_END.sub("", rest).split("<|python_tag|>"))):
        objects = [as_object(one) for one in re.split(r";\s*(?=\{)", body)]
        if all(isinstance(at(one, "name"), str) for one in objects):
            calls += [{"name": at(one, "name"), "arguments": at(one, "parameters")} for one in objects]
        elif body.startswith("{"):
            raise _Malformed
        elif (built_in := _BUILT_IN.fullmatch(body)) is not None:
            calls.append({"name": built_in[1], "arguments": dict(_GIVEN.findall(built_in[2]))})
        else:
            calls.append({"name": "code_interpreter", "arguments": {"code": body}})
    if not calls:
        raise _Malformed
    return TokenCalls(tuple(calls), before.strip())


def _listed(before: str, rest: str, _: str) -> TokenCalls:
    """A list of calls as JSON, or one: Granite, Phi, Nemotron, Hunyuan, Jamba, Command R and InternLM."""
    calls: list[JsonObject] = []
    words = [before]
    for body in _LISTS.split(rest)[1:]:
        end = _LIST_ENDS.search(body)
        value = decoded((body if end is None else body[: end.start()]).strip())
        words.append("" if end is None else _LIST_ENDS.sub("", body[end.end() :]))
        for call in listed(value):
            if (name := first_text(call, "name", "tool_name")) is None:
                raise _Malformed
            calls.append({"name": name, "arguments": at(call, "arguments" if "arguments" in call else "parameters")})
    if not calls:
        raise _Malformed
    return TokenCalls(tuple(calls), "\n".join(filter(None, map(str.strip, words))))


def _glaive(before: str, rest: str, _: str) -> TokenCalls:
    """JSON, in which the arguments stand as JSON between single quotes."""
    calls: list[JsonObject] = []
    for body in rest.replace("<|endoftext|>", "").split(_GLAIVE)[1:]:
        call = as_object(body.strip())
        quoted = _QUOTED.fullmatch(body) if call is None else None
        if quoted is not None:
            call = {"name": quoted[1], "arguments": quoted[2]}
        if not isinstance(at(call, "name"), str):
            raise _Malformed
        calls.append({"name": at(call, "name"), "arguments": at(call, "arguments")})
    return TokenCalls(tuple(calls), before.strip())


def _invoked(before: str, rest: str, prefix: str) -> TokenCalls:
    """Elements as in the prompts of Claude, which other models write with a prefix of their own."""
    elements, words = elements_in(rest, f"{prefix}invoke")
    if not elements or f"<{prefix}invoke" in words:
        raise _Malformed
    calls: list[JsonObject] = []
    for element in elements:
        name = _NAME.search(element.attributes)
        parameters = elements_in(element.content, f"{prefix}parameter")[0]
        arguments = {
            key[1]: _value(each.attributes, each.content)
            for each in parameters
            if (key := _NAME.search(each.attributes))
        }
        calls.append({"name": name[1] if name else "unnamed", "arguments": arguments})
    return TokenCalls(tuple(calls), _WRAPPERS.sub("", before + words).strip())


def _value(attributes: str, content: str) -> Any:
    """The value of a parameter; DeepSeek says which are texts."""
    if 'string="true"' in attributes:
        return content
    return parsed(content) if 'string="false"' in attributes else decoded(content.strip())


def results_in(text: str) -> tuple[list[JsonObject], str]:
    """The fields of messages of tools for what the text of a message returns, and the rest of the text."""
    elements, rest = elements_in(_OUTPUT.sub(_as_element, _OUTPUTS.sub("", text)), "tool_response")
    if elements:
        return [{"content": element.content.strip()} for element in elements], rest
    elements, rest = elements_in(text, _RESULTS)
    return [result for element in elements for result in _returned(element.content)], rest


def _as_element(token: re.Match[str]) -> str:
    return "<tool_response>" if token[1] == "begin" else "</tool_response>"


def _returned(content: str) -> Iterator[JsonObject]:
    """What stands in `<function_results>`: a result for each call, or an error."""
    for inner in [one.content for one in elements_in(content, "result")[0]] or [content]:
        shown, error = element_in(inner, "stdout"), element_in(inner, "error")
        named = element_in(inner, "tool_name")
        yield {
            "content": (inner.strip() if error is None else error) if shown is None else shown,
            **({} if named is None else {"name": named}),
            **({} if error is None else {"error": error or "error"}),
        }
