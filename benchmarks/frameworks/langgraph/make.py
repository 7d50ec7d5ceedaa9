"""Run the scenario with LangGraph's agent: `make.py OUT_DIR BASE_URL`."""

import json
import sys
from pathlib import Path

import scenario
from langchain.agents import create_agent
from langchain_core.load import dumps
from langchain_core.messages import message_to_dict, messages_to_dict
from langchain_core.tools import ToolException, tool
from langchain_openai import ChatOpenAI


@tool
def check_stock(sku: str) -> dict:
    """Check how many items are in stock."""
    try:
        return scenario.check_stock(sku)
    except scenario.WarehouseError as problem:
        raise ToolException(str(problem)) from problem


def main(out: Path, base_url: str) -> None:
    check_stock.handle_tool_error = True
    for run in ("chat", "responses"):
        model = ChatOpenAI(
            model="gpt-5", base_url=f"{base_url}/{run}/v1", api_key="local", use_responses_api=run == "responses"
        )
        tools = [tool(scenario.look_up_order), check_stock, tool(scenario.refund)]
        agent = create_agent(model, tools, system_prompt=scenario.INSTRUCTIONS["desk"], name="desk")
        messages = []
        for text in scenario.USER_MESSAGES:
            messages = agent.invoke({"messages": [*messages, {"role": "user", "content": text}]})["messages"]
        (out / f"{run}.messages_to_dict.json").write_text(json.dumps(messages_to_dict(messages)), "utf-8")
        (out / f"{run}.dumps.json").write_text(dumps(messages), "utf-8")
        (out / f"{run}.state_dumps.json").write_text(dumps({"messages": messages}), "utf-8")
        lines = "".join(json.dumps(message_to_dict(message)) + "\n" for message in messages)
        (out / f"{run}.lines.jsonl").write_text(lines, "utf-8")
        plain = [message.model_dump(mode="json") for message in messages]
        (out / f"{run}.model_dump.json").write_text(json.dumps(plain), "utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
