"""Run the scenario with Google's Agent Development Kit: `make.py OUT_DIR BASE_URL`."""

import asyncio
import json
import os
import sys
from pathlib import Path

import scenario

os.environ |= {"GOOGLE_API_KEY": "local", "GOOGLE_GEMINI_BASE_URL": f"{sys.argv[2]}/gemini"}

from google.adk.agents import Agent
from google.adk.runners import InMemoryRunner
from google.genai import types


def check_stock(sku: str) -> dict:
    """Check how many items are in stock."""
    try:
        return scenario.check_stock(sku)
    except scenario.WarehouseError as problem:
        return {"error": str(problem)}


async def main(out: Path) -> None:
    desk = Agent(
        name="desk",
        model="gemini-2.5-flash",
        description=scenario.DESCRIPTIONS["desk"],
        instruction=scenario.INSTRUCTIONS["desk"],
        tools=[scenario.look_up_order, check_stock, scenario.refund],
    )
    runner = InMemoryRunner(agent=desk, app_name="refunds")
    sessions = runner.session_service
    session = await sessions.create_session(app_name="refunds", user_id="u")
    for text in scenario.USER_MESSAGES:
        said = types.Content(role="user", parts=[types.Part(text=text)])
        async for _ in runner.run_async(user_id="u", session_id=session.id, new_message=said):
            pass
    session = await sessions.get_session(app_name="refunds", user_id="u", session_id=session.id)
    (out / "gemini.session.json").write_text(session.model_dump_json(), "utf-8")
    (out / "gemini.session_api.json").write_text(session.model_dump_json(by_alias=True, exclude_none=True), "utf-8")
    lines = "".join(event.model_dump_json(by_alias=True, exclude_none=True) + "\n" for event in session.events)
    (out / "gemini.events.jsonl").write_text(lines, "utf-8")
    (out / "gemini.contents.json").write_text(
        json.dumps([event.content.model_dump(mode="json", exclude_none=True) for event in session.events]), "utf-8"
    )
    unknown = {"agents": None, "input_tokens": None, "output_tokens": None}
    (out / "overrides.json").write_text(json.dumps({"gemini.contents.json": unknown}), "utf-8")


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1])))
