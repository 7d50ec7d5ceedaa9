"""Run the scenario with AG2 (AutoGen 0.2): `make.py OUT_DIR BASE_URL`."""

import json
import sys
from pathlib import Path

import scenario
from autogen import ConversableAgent, register_function


def main(out: Path, base_url: str) -> None:
    settings = {"config_list": [{"model": "gpt-5", "base_url": f"{base_url}/chat/v1", "api_key": "local"}]}
    desk = ConversableAgent("desk", system_message=scenario.INSTRUCTIONS["desk"], llm_config=settings)
    user = ConversableAgent("user", llm_config=False, human_input_mode="NEVER", is_termination_msg=_is_answer)
    for function in scenario.TOOLS.values():
        register_function(function, caller=desk, executor=user, description=function.__doc__)
    for text in scenario.USER_MESSAGES:
        result = user.initiate_chat(desk, message=text, clear_history=False, silent=True)
    (out / "chat.chat_history.json").write_text(json.dumps(result.chat_history), "utf-8")
    (out / "chat.messages_of_desk.json").write_text(json.dumps(desk.chat_messages[user]), "utf-8")
    unknown = {"input_tokens": None, "output_tokens": None, "has_errors": False}
    files = ("chat.chat_history.json", "chat.messages_of_desk.json")
    (out / "overrides.json").write_text(json.dumps(dict.fromkeys(files, unknown)), "utf-8")


def _is_answer(message) -> bool:
    return message.get("content") in scenario.ANSWERS


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
