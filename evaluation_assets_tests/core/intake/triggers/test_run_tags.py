from pathlib import Path

from evaluation_assets.core.intake.drops import scan
from evaluation_assets.core.intake.triggers.run_tags import run_tags
from evaluation_assets.core.system.installation import Installation


def test_runs_are_tagged_with_what_the_sidecar_says(tmp_path: Path) -> None:
    home = Installation.at(str(tmp_path))
    (tmp_path / "drops").mkdir()
    for name, sidecar in (("known", "{suite: trips, agent: planner}"), ("plain", None), ("broken", "- [")):
        (tmp_path / "drops" / f"{name}.jsonl").write_text("{}\n")
        if sidecar is not None:
            (tmp_path / "drops" / f"{name}.drop.yaml").write_text(sidecar)
    drops = scan(home.drops).drops
    assert run_tags(drops["known"]) == {"evaluation/suite": "trips", "evaluation/agent": "planner"}
    assert run_tags(drops["plain"]) == {} == run_tags(drops["broken"])
