"""The team's assets: tickets, and what the agent does with them."""

from typing import Any

import dagster as dg

ORDERS = {"1001": "shipped on 3 May", "1002": "not paid yet"}


@dg.asset(group_name="support")
def tickets() -> list[dict[str, str]]:
    """Questions of customers; in a real project, a query."""
    return [
        {"id": "t1", "order": "1001", "question": "Where is my order 1001?"},
        {"id": "t2", "order": "1002", "question": "Where is my order 1002?"},
        {"id": "t3", "order": "1003", "question": "Where is my order 1003?"},
    ]


@dg.asset(key=["support", "agent_runs"], group_name="support")
def agent_runs(tickets: list[dict[str, str]]) -> list[dict[str, Any]]:
    """One chat for each ticket, as the model's API has it."""
    return [{"id": ticket["id"], "messages": answered(ticket)} for ticket in tickets]


def answered(ticket: dict[str, str]) -> list[dict[str, Any]]:
    """Look the order up and answer; in a real project, this calls a model."""
    found = ORDERS.get(ticket["order"])
    call = {"name": "find_order", "arguments": f'{{"order": "{ticket["order"]}"}}'}
    return [
        {"role": "user", "content": ticket["question"]},
        {"role": "assistant", "tool_calls": [{"id": "c1", "type": "function", "function": call}]},
        {"role": "tool", "tool_call_id": "c1", "content": found or "Error: no such order"},
        {"role": "assistant", "content": f"Your order was {found}." if found else "Your order is on its way."},
    ]
