"""The scenario with an agent of LangGraph."""

import scenario
from langchain.agents import create_agent
from langchain.agents.middleware import wrap_tool_call
from langchain_core.messages import ToolMessage
from langchain_openai import ChatOpenAI


@wrap_tool_call
def failures_are_results(request, handler):
    """Give a tool's failure to the model."""
    try:
        return handler(request)
    except scenario.WarehouseError as problem:
        return ToolMessage(content=str(problem), tool_call_id=request.tool_call["id"], status="error")


def converse(base_url: str) -> None:
    """Run the scenario."""
    agent = create_agent(
        ChatOpenAI(model="gpt-5", base_url=base_url, api_key="local", use_responses_api=False),
        [scenario.look_up_order, scenario.check_stock, scenario.refund],
        system_prompt=scenario.INSTRUCTIONS["desk"],
        middleware=[failures_are_results],
        name="desk",
    )
    messages = []
    for text in scenario.USER_MESSAGES:
        state = {"messages": [*messages, {"role": "user", "content": text}]}
        messages = agent.invoke(state, {"configurable": {"thread_id": "1"}, "metadata": {"thread_id": "1"}})["messages"]
