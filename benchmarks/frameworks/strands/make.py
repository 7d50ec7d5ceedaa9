"""Run the scenario with Strands Agents: `make.py OUT_DIR BASE_URL`."""

import json
import sys
import tempfile
from pathlib import Path

import scenario
from strands import Agent, tool
from strands.models.openai import OpenAIModel
from strands.session.file_session_manager import FileSessionManager


def main(out: Path, base_url: str) -> None:
    model = OpenAIModel(client_args={"base_url": f"{base_url}/chat/v1", "api_key": "local"}, model_id="gpt-5")
    with tempfile.TemporaryDirectory() as folder:
        agent = Agent(
            model=model,
            name="desk",
            agent_id="desk",
            system_prompt=scenario.INSTRUCTIONS["desk"],
            tools=[tool(function) for function in scenario.TOOLS.values()],
            session_manager=FileSessionManager(session_id="conversation-1", storage_dir=folder),
            callback_handler=None,
        )
        for text in scenario.USER_MESSAGES:
            agent(text)
        files = sorted(Path(folder).rglob("message_*.json"), key=lambda path: int(path.stem.partition("_")[2]))
        stored = [json.loads(path.read_text("utf-8")) for path in files]
    (out / "chat.messages.json").write_text(json.dumps(agent.messages), "utf-8")
    (out / "chat.session.jsonl").write_text("".join(json.dumps(each) + "\n" for each in stored), "utf-8")
    unknown = {"agents": None}
    (out / "overrides.json").write_text(
        json.dumps({"chat.messages.json": unknown, "chat.session.jsonl": unknown}), "utf-8"
    )


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
