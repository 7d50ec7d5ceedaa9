"""The known task: a customer wants a refund. Tools, scripted replies, and the truth about a run. Stdlib only.

Agent `desk` looks up the order, checks the stock of two items in parallel (one check fails), and hands over to agent
`billing`, which refunds. A framework with one agent gives all tools to `desk`. A second user message follows.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

USER_MESSAGES = ("I want my money back for order 17.", "And order 18?")
ANSWERS = ("Order 17 is refunded: 12.50.", "Order 18 has shipped.")
THOUGHT = "The customer is waiting, so I take the next step."
OFFLINE = "warehouse offline"

INSTRUCTIONS = {
    "desk": "You are desk. Look up the order and check the stock, then have the order refunded.",
    "billing": "You are billing. Refund the order.",
}
DESCRIPTIONS = {"desk": "Answers customers.", "billing": "Refunds orders."}
HAND_OFF = "billing"
"""A tool whose name contains this hands over to the other agent."""


class WarehouseError(Exception):
    """The failure of a tool."""


def look_up_order(order_id: str) -> dict[str, Any]:
    """Look up an order."""
    return {"order_id": order_id, "status": {"17": "returned", "18": "shipped"}[order_id], "total": 12.5}


def check_stock(sku: str) -> dict[str, Any]:
    """Check how many items are in stock."""
    if sku == "B-2":
        raise WarehouseError(OFFLINE)
    return {"sku": sku, "in_stock": 3}


def refund(order_id: str, amount: float) -> dict[str, Any]:
    """Refund an order."""
    return {"refund_id": f"R-{order_id}", "amount": amount}


TOOLS = {tool.__name__: tool for tool in (look_up_order, check_stock, refund)}


@dataclass(frozen=True)
class Call:
    """A tool call of a scripted reply."""

    name: str
    arguments: Mapping[str, Any]
    id: str = ""


@dataclass(frozen=True)
class Reply:
    """What the model says next: calls or an answer, with its token usage."""

    agent: str
    turn: int
    text: str | None
    calls: tuple[Call, ...]
    input_tokens: int
    output_tokens: int
    thought: str | None = None


@dataclass(frozen=True)
class Conversation:
    """A request as the script sees it, whatever its protocol: `items` are ("user", text) and ("call", name)."""

    system: str
    items: Sequence[tuple[str, str]]
    tools: Mapping[str, Mapping[str, Any]]


_PLAN = (
    (Call("look_up_order", {"order_id": "17"}),),
    (Call("check_stock", {"sku": "A-1"}), Call("check_stock", {"sku": "B-2"})),
    (Call(HAND_OFF, {}),),
    (Call("refund", {"order_id": "17", "amount": 12.5}),),
    (),
    (Call("look_up_order", {"order_id": "18"}),),
    (),
)
_TURNS = (slice(0, 5), slice(5, 7))


def next_reply(asked: Conversation, *, thinks: bool = False) -> Reply:
    """The first step of the turn's plan that is not done yet and that the offered tools allow."""
    asks = [place for place, (kind, text) in enumerate(asked.items) if kind == "user" and _turn_of(text) is not None]
    turn = _turn_of(asked.items[asks[-1]][1]) if asks else 0
    assert turn is not None
    done = [name for kind, name in asked.items[asks[-1] if asks else 0 :] if kind == "call"]
    for number in range(*_TURNS[turn].indices(len(_PLAN))):
        calls = _offered(_PLAN[number], asked.tools)
        if calls is not None and not any(call.name in done for call in calls):
            break
    else:
        raise ValueError(f"the plan of turn {turn + 1} has no step left")
    return Reply(
        agent=next((name for name in INSTRUCTIONS if f"You are {name}." in asked.system), "desk"),
        turn=turn,
        text=None if calls else ANSWERS[turn],
        calls=tuple(Call(call.name, call.arguments, f"call_{number}_{place}") for place, call in enumerate(calls)),
        input_tokens=100 + 10 * number,
        output_tokens=10 + number,
        thought=THOUGHT if thinks else None,
    )


def _turn_of(text: str) -> int | None:
    return next((turn for turn in reversed(range(len(USER_MESSAGES))) if USER_MESSAGES[turn] in text), None)


def _offered(calls: Iterable[Call], tools: Mapping[str, Mapping[str, Any]]) -> list[Call] | None:
    """The calls, with the framework's own name and arguments for the hand-off; `None` if a tool is not offered."""
    made = []
    for call in calls:
        if call.name == HAND_OFF:
            call = next((_hand_off(name, schema) for name, schema in tools.items() if HAND_OFF in name), None)
        if call is None or call.name not in tools:
            return None
        made.append(call)
    return made


def _hand_off(name: str, schema: Mapping[str, Any]) -> Call:
    return Call(name, dict.fromkeys(schema.get("required") or (), "Refund order 17: 12.5."))


@dataclass(frozen=True)
class TrueCall:
    """A tool call that was made, and what the tool returned: a result or an error."""

    name: str
    arguments: Mapping[str, Any]
    result: Any = None
    error: str | None = None


@dataclass(frozen=True)
class Truth:
    """What happened in a run. `None`: the shape of the file cannot express it, so it is not compared.

    `has_errors` is false where the shape marks no failures; `error_text` is what the framework returns for a failure.
    """

    calls: tuple[TrueCall, ...]
    hand_offs: tuple[str, ...]
    agents: tuple[str, ...] | None
    turns: int | None
    answer: str | None
    input_tokens: int | None
    output_tokens: int | None
    has_errors: bool = True
    error_text: str = OFFLINE
    task: str | None = USER_MESSAGES[0]


def truth_of(replies: Sequence[Reply]) -> Truth:
    """The truth about a run, from the replies that the server gave."""
    calls = [call for reply in replies for call in reply.calls]
    return Truth(
        calls=tuple(_executed(call) for call in calls if call.name in TOOLS),
        hand_offs=tuple(call.name for call in calls if call.name not in TOOLS),
        agents=tuple(sorted({reply.agent for reply in replies})),
        turns=len({reply.turn for reply in replies}),
        answer=next((reply.text for reply in reversed(replies) if reply.text), None),
        input_tokens=sum(reply.input_tokens for reply in replies),
        output_tokens=sum(reply.output_tokens for reply in replies),
    )


def _executed(call: Call) -> TrueCall:
    try:
        return TrueCall(call.name, call.arguments, result=TOOLS[call.name](**call.arguments))
    except WarehouseError as problem:
        return TrueCall(call.name, call.arguments, error=str(problem))


def as_json(truth: Truth) -> dict[str, Any]:
    """The truth as the JSON object that is kept beside a sample."""
    return asdict(truth)
