"""Run the scenario with AutoGen AgentChat: `make.py OUT_DIR BASE_URL`."""

import asyncio
import json
import sys
from pathlib import Path

import scenario
from autogen_agentchat.agents import AssistantAgent
from autogen_agentchat.conditions import TextMessageTermination
from autogen_agentchat.teams import Swarm
from autogen_ext.models.openai import OpenAIChatCompletionClient

KNOWN = {
    "vision": False,
    "function_calling": True,
    "json_output": False,
    "family": "unknown",
    "structured_output": False,
}


async def main(out: Path, base_url: str) -> None:
    model = OpenAIChatCompletionClient(model="gpt-5", base_url=f"{base_url}/chat/v1", api_key="local", model_info=KNOWN)

    def agent(name, tools, handoffs=()):
        return AssistantAgent(
            name,
            model,
            tools=tools,
            handoffs=list(handoffs),
            description=scenario.DESCRIPTIONS[name],
            system_message=scenario.INSTRUCTIONS[name],
            max_tool_iterations=5,
        )

    desk = agent("desk", [scenario.look_up_order, scenario.check_stock], ["billing"])
    team = Swarm(
        [desk, agent("billing", [scenario.refund], ["desk"])],
        termination_condition=TextMessageTermination("desk") | TextMessageTermination("billing"),
    )
    messages = []
    for text in scenario.USER_MESSAGES:
        result = await team.run(task=text)
        messages += json.loads(result.model_dump_json())["messages"]
        if text == scenario.USER_MESSAGES[0]:
            (out / "chat.task_result.json").write_text(result.model_dump_json(), "utf-8")
    (out / "chat.messages.json").write_text(json.dumps(messages), "utf-8")
    (out / "chat.team_state.json").write_text(json.dumps(await team.save_state()), "utf-8")
    first = {"turns": 1, "answer": scenario.ANSWERS[0], "input_tokens": 600, "output_tokens": 60}
    (out / "overrides.json").write_text(json.dumps({"chat.task_result.json": first}), "utf-8")


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), sys.argv[2]))
