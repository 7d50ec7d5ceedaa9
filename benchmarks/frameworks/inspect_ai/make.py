"""Run the scenario as Inspect evaluations, with a hand-off and an agent as a tool: `make.py OUT_DIR BASE_URL`."""

import json
import sys
import tempfile
from pathlib import Path

import scenario
from inspect_ai import Task, eval
from inspect_ai.agent import AgentState, agent, as_tool, handoff
from inspect_ai.agent import run as run_agent
from inspect_ai.dataset import Sample
from inspect_ai.log import read_eval_log, write_eval_log
from inspect_ai.model import ChatMessageSystem, ChatMessageUser, get_model
from inspect_ai.scorer import includes
from inspect_ai.solver import solver
from inspect_ai.tool import ToolError, tool

RUNS = {"handoff": handoff, "as_tool": as_tool}


@tool
def look_up_order():
    async def execute(order_id: str):
        """Look up an order.

        Args:
            order_id: ID of the order.
        """
        return json.dumps(scenario.look_up_order(order_id))

    return execute


@tool
def check_stock():
    async def execute(sku: str):
        """Check how many items are in stock.

        Args:
            sku: Article.
        """
        try:
            return json.dumps(scenario.check_stock(sku))
        except scenario.WarehouseError as problem:
            raise ToolError(str(problem)) from problem

    return execute


@tool
def refund():
    async def execute(order_id: str, amount: float):
        """Refund an order.

        Args:
            order_id: ID of the order.
            amount: Amount to refund.
        """
        return json.dumps(scenario.refund(order_id, amount))

    return execute


@agent(name="billing", description=scenario.DESCRIPTIONS["billing"])
def billing():
    async def execute(state: AgentState) -> AgentState:
        state.messages.append(ChatMessageSystem(content=scenario.INSTRUCTIONS["billing"]))
        messages, state.output = await get_model().generate_loop(state.messages, tools=[refund()])
        state.messages.extend(messages)
        return state

    return execute


@agent(name="desk", description=scenario.DESCRIPTIONS["desk"])
def desk(delegate):
    async def execute(state: AgentState) -> AgentState:
        tools = [look_up_order(), check_stock(), delegate(billing())]
        messages, state.output = await get_model().generate_loop(state.messages, tools=tools)
        state.messages.extend(messages)
        return state

    return execute


@solver
def conversation(delegate):
    async def solve(state, generate):
        state.messages.insert(0, ChatMessageSystem(content=scenario.INSTRUCTIONS["desk"]))
        for number, text in enumerate(scenario.USER_MESSAGES):
            if number:
                state.messages.append(ChatMessageUser(content=text))
            inner = await run_agent(desk(delegate), state.messages)
            state.messages, state.output = inner.messages, inner.output
        return state

    return solve


def main(out: Path, base_url: str) -> None:
    for run, delegate in RUNS.items():
        task = Task(
            dataset=[Sample(id="refund", input=scenario.USER_MESSAGES[0], target=scenario.ANSWERS[-1])],
            solver=conversation(delegate),
            scorer=includes(),
            name="refund",
        )
        with tempfile.TemporaryDirectory() as folder:
            (log,) = eval(
                task,
                model="openai/gpt-5",
                model_base_url=f"{base_url}/{run}/v1",
                model_args={"responses_api": False, "api_key": "local"},
                log_dir=folder,
                log_format="eval",
                display="none",
            )
            if log.status != "success":
                raise SystemExit(str(log.error or log.samples))
            Path(log.location).rename(out / f"{run}.eval_log.eval")
        write_eval_log(read_eval_log(out / f"{run}.eval_log.eval"), out / f"{run}.json_log.json", format="json")


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
