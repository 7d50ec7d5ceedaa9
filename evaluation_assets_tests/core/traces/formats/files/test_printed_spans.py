"""What a program prints, with the spans of a console exporter between its other lines."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from evaluation_assets_tests.core.traces.formats.readers.summaries import summary_of
from evaluation_assets_tests.core.traces.formats.reading import trajectories


def printed(name: str, given: str, said: str, second: int) -> str:
    def told(role: str, text: str) -> str:
        return json.dumps([{"role": role, "parts": [{"type": "text", "content": text}]}])

    attributes: dict[str, Any] = {
        "gen_ai.operation.name": "chat",
        "gen_ai.input.messages": told("user", given),
        "gen_ai.output.messages": told("assistant", said),
    }
    return json.dumps(
        {
            "name": "chat", "context": {"trace_id": f"0x{name}", "span_id": "0x1", "trace_state": "[]"},
            "kind": "SpanKind.CLIENT", "parent_id": None, "start_time": f"2026-05-01T10:00:0{second}.000000Z",
            "end_time": f"2026-05-01T10:00:0{second + 1}.000000Z", "status": {"status_code": "UNSET"},
            "attributes": attributes, "events": [], "links": [], "resource": {"attributes": {}, "schema_url": ""},
        },
        indent=4,
    )  # fmt: skip


ONE = printed("a1", "Is it paid?", "It is paid.", 0)
OTHER = printed("a2", "{\nWhat is left?\n}", "Three.", 2)


@pytest.mark.parametrize(
    "text",
    [
        f"INFO:root:starting\n{ONE}\n{OTHER}\n",
        f"{ONE}\nINFO:root:next\n{OTHER}\nDone.\n",
        f"Loading {{\n  }}\n\n{ONE}\r\n[notice] 1\n{OTHER}",
        f"{ONE}\n{OTHER}\n",
    ],
)
@pytest.mark.parametrize("name", ["drop.log", "drop.txt", "drop.jsonl", "drop.json", "drop.log.gz"])
def test_spans_are_found_between_the_lines_of_a_program(tmp_path: Path, text: str, name: str) -> None:
    path = tmp_path / name
    path.write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())
    runs = trajectories(path)
    assert [(run.task, run.final_answer) for run in runs] == [
        ("Is it paid?", "It is paid."), ("{\nWhat is left?\n}", "Three.")
    ]  # fmt: skip
    assert summary_of(path).trust == "complete"
