"""Who ran in a trace: the name and version of its agent, and of the agents that took part."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace

from evaluation_assets.core.traces.formats.context import Context
from evaluation_assets.core.traces.formats.spans.drop_log import DropLog
from evaluation_assets.core.traces.formats.spans.naming import NOBODY, agent_named_in, agent_of, plain_name, version_in
from evaluation_assets.core.traces.formats.spans.run_facts import outermost_agents
from evaluation_assets.core.traces.formats.spans.tree import Trace
from evaluation_assets.core.traces.trajectories.model import Agent

_UNKNOWN = re.compile(r"unknown_service.*|[0-9a-f]{12}", re.DOTALL)
"""What SDKs of OpenTelemetry call a program whose name nobody set; and the ID of a container."""


@dataclass(frozen=True, slots=True)
class RunAgent:
    """The agent of a run, if the trace names one. `nobody` is the ID of an agent that no span names.

    `outermost` are the agents that no other one runs, `service` is the program, which is the agent if nothing names it.
    """

    name: str | None
    version: str | None
    nobody: str
    outermost: frozenset[str]
    service: str | None

    def among(self, agents: Iterable[Agent]) -> tuple[Agent, ...]:
        """The agents of the trace with the version; the one that is the agent of the run has its name."""
        given = tuple(replace(agent, version=self.version) for agent in agents)
        only = given[0].id if len(given) == 1 and given[0].id != NOBODY else None
        name = self.name or only or self.service
        own = {name, *(self.outermost if len(self.outermost) == 1 else ())}
        if len(given) == 1 or not any(agent.id in own for agent in given):
            own = {NOBODY, *(agent.id for agent in given[:1] if len(given) == 1)}
        return tuple(replace(agent, name=name) if agent.id in own else agent for agent in given)


def run_agent(trace: Trace, facts: Context, drop: DropLog) -> RunAgent:
    """The agent that the span of the run names, or the only agent that no other one runs.

    If no span names an agent, as in a trace whose root is missing, it is the one that the other traces of its service
    name, or else the service.
    """
    spans = list(trace.walk())
    outermost = frozenset(filter(None, map(agent_of, outermost_agents(trace.roots))))
    programs = [(span.service, span.service_version) for span in spans if span.service]
    service, service_version = programs[0] if programs else ("", "")
    agents = drop.agents.get(service, ())
    stated = plain_name(facts.agent or "")
    is_named = stated or outermost or any(map(agent_named_in, spans))
    likely = None if is_named or len(agents) != 1 else next(iter(agents))
    versions = {version_in(span) for span in spans} - {None} or {facts.agent_version, service_version} - {None, ""}
    return RunAgent(
        name=stated or likely or (next(iter(outermost)) if len(outermost) == 1 else None),
        version=versions.pop() if len(versions) == 1 else facts.agent_version,
        nobody=stated or likely or NOBODY,
        outermost=outermost,
        service=None if is_named or agents or _UNKNOWN.fullmatch(service) else service or None,
    )
