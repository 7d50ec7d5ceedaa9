"""The readers of all formats that ship, in the order in which they are asked whether a file is theirs."""

from typing import Any

from evaluation_assets.core.system.plugins import of_module
from evaluation_assets.core.traces.formats.base import Format
from evaluation_assets.core.traces.formats.envelopes.a2a import A2A
from evaluation_assets.core.traces.formats.envelopes.acp import ACP
from evaluation_assets.core.traces.formats.envelopes.agentbench import AGENTBENCH
from evaluation_assets.core.traces.formats.envelopes.agentscope import AGENTSCOPE
from evaluation_assets.core.traces.formats.envelopes.agno import AGNO
from evaluation_assets.core.traces.formats.envelopes.aworld import AWORLD
from evaluation_assets.core.traces.formats.envelopes.bedrock_agents import BEDROCK_AGENTS
from evaluation_assets.core.traces.formats.envelopes.bfcl_results import BFCL_RESULTS
from evaluation_assets.core.traces.formats.envelopes.bot_framework import BOT_FRAMEWORK
from evaluation_assets.core.traces.formats.envelopes.chatgpt import CHATGPT
from evaluation_assets.core.traces.formats.envelopes.claude_ai import CLAUDE_AI
from evaluation_assets.core.traces.formats.envelopes.claude_hooks import CLAUDE_HOOKS
from evaluation_assets.core.traces.formats.envelopes.continue_sessions import CONTINUE
from evaluation_assets.core.traces.formats.envelopes.crewai import CREWAI
from evaluation_assets.core.traces.formats.envelopes.devai import DEVAI
from evaluation_assets.core.traces.formats.envelopes.dify import DIFY
from evaluation_assets.core.traces.formats.envelopes.dspy_react import DSPY_REACT
from evaluation_assets.core.traces.formats.envelopes.elevenlabs import ELEVENLABS
from evaluation_assets.core.traces.formats.envelopes.envelope import Envelope
from evaluation_assets.core.traces.formats.envelopes.evalscope import EVALSCOPE
from evaluation_assets.core.traces.formats.envelopes.librechat import LIBRECHAT
from evaluation_assets.core.traces.formats.envelopes.livekit import LIVEKIT
from evaluation_assets.core.traces.formats.envelopes.llm_logs import LLM_LOGS
from evaluation_assets.core.traces.formats.envelopes.lm_studio import LM_STUDIO
from evaluation_assets.core.traces.formats.envelopes.mcp_bench import MCP_BENCH
from evaluation_assets.core.traces.formats.envelopes.meta_are import META_ARE
from evaluation_assets.core.traces.formats.envelopes.miroflow import MIROFLOW
from evaluation_assets.core.traces.formats.envelopes.mistral import MISTRAL
from evaluation_assets.core.traces.formats.envelopes.mobile_agent import MOBILE_AGENT
from evaluation_assets.core.traces.formats.envelopes.n8n import N8N
from evaluation_assets.core.traces.formats.envelopes.open_webui import OPEN_WEBUI
from evaluation_assets.core.traces.formats.envelopes.openai_assistants import OPENAI_ASSISTANTS
from evaluation_assets.core.traces.formats.envelopes.openai_realtime import OPENAI_REALTIME
from evaluation_assets.core.traces.formats.envelopes.openai_run_state import OPENAI_RUN_STATE
from evaluation_assets.core.traces.formats.envelopes.promptfoo import PROMPTFOO
from evaluation_assets.core.traces.formats.envelopes.rasa import RASA
from evaluation_assets.core.traces.formats.envelopes.retell import RETELL
from evaluation_assets.core.traces.formats.envelopes.toolbench import TOOLBENCH
from evaluation_assets.core.traces.formats.envelopes.trae_agent import TRAE_AGENT
from evaluation_assets.core.traces.formats.envelopes.trials import TRIALS
from evaluation_assets.core.traces.formats.envelopes.vapi import VAPI
from evaluation_assets.core.traces.formats.envelopes.vscode_chat import VSCODE_CHAT
from evaluation_assets.core.traces.formats.envelopes.zed import ZED
from evaluation_assets.core.traces.formats.readers import (
    ag_ui,
    agent_session,
    aider,
    anthropic_messages,
    antigravity,
    atif,
    autogen,
    bedrock_converse,
    browser_use,
    canonical,
    claude_code,
    cline,
    codex,
    copilot_cli,
    cursor,
    droid,
    gemini,
    gemini_cli,
    gemini_interactions,
    google_adk,
    goose,
    grok,
    inspect_ai,
    jaeger,
    kimi_code,
    kiro,
    langchain,
    langfuse,
    letta,
    managed_agents,
    mini_swe_agent,
    mlflow,
    open_interpreter,
    openai_agents,
    openai_messages,
    openai_responses,
    opencode,
    openhands,
    openhands_sdk,
    openinference,
    osworld,
    otlp,
    pi,
    pydantic_ai,
    qwen_code,
    smolagents,
    specstory,
    swe_agent,
    tagged,
    tau2_bench,
    tau_bench,
    vercel_ai,
    who_and_when,
)
from evaluation_assets.core.traces.formats.readers.braintrust import BRAINTRUST
from evaluation_assets.core.traces.formats.readers.deepeval import DEEPEVAL
from evaluation_assets.core.traces.formats.readers.opik import OPIK
from evaluation_assets.core.traces.formats.readers.weave import WEAVE
from evaluation_assets.core.traces.formats.spans.atof import ATOF
from evaluation_assets.core.traces.formats.spans.store_export import StoreExport


def format_of_reader(reader: Any) -> Format:
    """The format of an envelope or an export, or of a reader's module."""
    return reader.format() if isinstance(reader, Envelope | StoreExport) else of_module(Format, reader, reader.NAME)


SPECIFIC: dict[str, Format] = {
    known.name: known
    for known in map(
        format_of_reader,
        (
            canonical,
            MOBILE_AGENT,  # its steps have a raw_response, too
            tagged,
            agent_session,
            atif,  # Harbor keeps the logs of coding agents beside the trajectory that it made of them
            cursor,
            copilot_cli,
            droid,
            grok,
            antigravity,
            kiro,
            kimi_code,
            pi,
            qwen_code,
            claude_code,
            cline,
            managed_agents,
            ag_ui,
            letta,
            codex,
            aider,
            specstory,
            gemini_cli,
            goose,
            opencode,
            browser_use,
            osworld,
            openhands_sdk,
            openhands,
            swe_agent,
            mini_swe_agent,
            inspect_ai,
            otlp,
            openinference,
            mlflow,
            langfuse,
            jaeger,
            ATOF,
            OPIK,
            BRAINTRUST,
            DEEPEVAL,
            WEAVE,
            openai_agents,
            tau_bench,
            tau2_bench,
            langchain,
            LIVEKIT,
            MISTRAL,
            OPENAI_REALTIME,
            gemini_interactions,
            open_interpreter,
            openai_responses,
            who_and_when,
            bedrock_converse,
            vercel_ai,
            google_adk,
            gemini,
            pydantic_ai,
            autogen,
            smolagents,
            A2A,
            ACP,
            AGENTBENCH,
            AGENTSCOPE,
            AGNO,
            AWORLD,
            BEDROCK_AGENTS,
            BFCL_RESULTS,
            BOT_FRAMEWORK,
            CHATGPT,
            CLAUDE_AI,
            CLAUDE_HOOKS,
            CONTINUE,
            CREWAI,
            DEVAI,
            DIFY,
            DSPY_REACT,
            ELEVENLABS,
            EVALSCOPE,
            N8N,
            LIBRECHAT,
            LLM_LOGS,
            LM_STUDIO,
            MCP_BENCH,
            META_ARE,
            MIROFLOW,
            OPEN_WEBUI,
            OPENAI_ASSISTANTS,
            OPENAI_RUN_STATE,
            PROMPTFOO,
            RASA,
            RETELL,
            VAPI,
            TOOLBENCH,
            TRAE_AGENT,
            TRIALS,
            VSCODE_CHAT,
            ZED,
            anthropic_messages,
            openai_messages,
        ),
    )
}
"""The formats by name. Those that may recognise what another one does come after it."""
