"""Tags of runs, by which runs can be searched: what the sidecar of the drop says."""

from evaluation_assets.core.intake.drops import Drop, InvalidDrop


def run_tags(drop: Drop) -> dict[str, str]:
    """Suite, agent and version of a drop, as far as they are known. The run itself reports an invalid sidecar."""
    try:
        sidecar = drop.sidecar()
    except InvalidDrop:
        return {}
    known = {"suite": sidecar.suite, "agent": sidecar.agent, "agent_version": sidecar.agent_version}
    return {f"evaluation/{name}": value for name, value in known.items() if value}
