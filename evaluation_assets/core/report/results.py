"""Result records: the source records with evaluations embedded after each clip, and one file per judge and task."""

import html
from collections.abc import Iterator, Mapping

import orjson

from evaluation_assets.core.intake.clips.clip_rows import with_clips
from evaluation_assets.core.intake.clips.segmentation import Clip
from evaluation_assets.core.intake.preprocessing.repair import changes_text
from evaluation_assets.core.intake.preprocessing.rules import repetition
from evaluation_assets.core.lake.row import Row
from evaluation_assets.core.lake.stored import Aligned, Stored, grouped
from evaluation_assets.core.report.drop_tables import DropTables
from evaluation_assets.core.report.provenance.replies import RepliesTo
from evaluation_assets.core.scoring.panel_scores import mean_over_clips, tool_averages
from evaluation_assets.core.traces.formats.tags import read_structure
from evaluation_assets.core.traces.trajectories.identity import digest, file_name
from evaluation_assets.core.traces.trajectories.model import JsonObject, Trajectory
from evaluation_assets.core.traces.trajectories.trajectory_rows import TREE_AND_TEXT, trajectory_of

_ENDING = "_eva.json"


def preprocessed_records(trajectories: Stored) -> Iterator[JsonObject]:
    """The kept source records, with the repaired text and the preprocessing metadata."""
    for row in trajectories.rows(TREE_AND_TEXT):
        yield preprocessed_record(trajectory_of(row))


def preprocessed_record(trajectory: Trajectory) -> JsonObject:
    """One kept record: its own fields, `raw_response`, and `preprocessing_metadata`."""
    tags: dict[str, int] = {}
    for block in read_structure(trajectory.text).blocks:
        tags[block.name] = tags.get(block.name, 0) + 1
    return {
        "task_id": trajectory.task_id,
        "task_description": trajectory.task,
        **trajectory.extra,
        "raw_response": trajectory.text,
        "preprocessing_metadata": {
            "tool_call_count": len(trajectory.calls),
            "has_duplicates": repetition(trajectory).duplicates > 0,
            "format_corrected": changes_text(repair.action for repair in trajectory.repairs),
            "repairs": [
                {"tag": repair.tag, "offset": repair.offset, "action": repair.action} for repair in trajectory.repairs
            ],
            "tag_analysis": tags,
        },
    }


def result_records(
    tables: DropTables, replies_to: RepliesTo = lambda _: {}
) -> Iterator[tuple[JsonObject, dict[str, JsonObject]]]:
    """For every trajectory: the result record, and each judge's verdicts on its clips by file name.

    `replies_to` gives the raw replies of models by their keys in the ledger; it is called once a trajectory.
    """
    scores = Aligned(tables.clip_scores.rows())
    verdicts = {judge: Aligned(table.rows()) for judge, table in tables.clip_verdicts.items()}
    for trajectory, clips in with_clips(tables.preprocessed, tables.clips):
        by_judge = {judge: aligned.at(trajectory.id) for judge, aligned in verdicts.items()}
        clip_scores = scores.at(trajectory.id)
        judge_files: dict[str, JsonObject] = {}
        replies = replies_to({row["ledger_key"] for rows in by_judge.values() for row in rows if row["ledger_key"]})
        for judge, rows in by_judge.items():
            if rows:
                name = judge_file_name(rows[0], trajectory)
                if name in judge_files:  # two judges may use the same model
                    name = file_name(f"{judge}_{name.removesuffix(_ENDING)}", _ENDING)
                judge_files[name] = _judge_record(trajectory, clips, rows, replies)
        yield _result_record(trajectory, clips, clip_scores, by_judge), judge_files


def judge_file_name(verdict: Row, trajectory: Trajectory) -> str:
    """`<provider>_<model>_<trajectory id>_eva.json`, made safe as a file name."""
    parts = (verdict["provider"], verdict["model"], trajectory.id)
    return file_name("_".join(map(_safe, parts)), _ENDING)


def embed(clips: list[Clip], evaluations: Mapping[int, str]) -> str:
    """The trajectory's text with each evaluation inserted after its clip, separated by one line break."""
    return "".join(
        clip.content + (f"\n{evaluations[clip.index]}" if clip.index in evaluations else "") for clip in clips
    )


def _result_record(
    trajectory: Trajectory, clips: list[Clip], clip_scores: list[Row], by_judge: Mapping[str, list[Row]]
) -> JsonObject:
    means = {
        index: {row["criterion"]: row["mean"] for row in rows} for index, rows in grouped(clip_scores, "clip_index")
    }
    opinions: dict[int, list[Row]] = {}
    for rows in by_judge.values():
        for row in rows:
            opinions.setdefault(row["clip_index"], []).append(row)
    averages = tool_averages(clip_scores)
    scored = sum(any(mean is not None for mean in criteria.values()) for criteria in means.values())
    models = [f"{rows[0]['provider']}_{rows[0]['model']}" for rows in by_judge.values() if rows]
    return {
        **preprocessed_record(trajectory),
        "full_response_with_evaluations": embed(
            clips, {index: _evaluation(means.get(index, {}), rows) for index, rows in opinions.items()}
        ),
        "evaluation_metadata": {
            "total_clips": len(clips),
            "num_clips": len(clips),
            "num_models": len(models),
            "model_names": models,
            "successful_evaluations": scored,
            "success_rate": scored / len(clips) if clips and opinions else None,
            "overall_trajectory_score": mean_over_clips(averages),
            "tool_averages": {
                tool: {
                    "average_scores": dict(average.criteria),
                    "clip_count": len(average.clips),
                    "overall_average": average.overall,
                }
                for tool, average in averages.items()
            },
        },
    }


def _evaluation(means: Mapping[str, float | None], verdicts: list[Row]) -> str:
    """One judge's scores as XML elements; the average of several judges as JSON, with all their rationales."""
    known = {criterion: mean for criterion, mean in means.items() if mean is not None}
    scored = [row for row in verdicts if row["outcome"] == "scored"]
    if not scored:
        outcomes = ", ".join(f"{row['judge']}: {row['outcome']}" for row in verdicts)
        return f"<clip_evaluation>\n<outcome>{html.escape(outcomes, quote=False)}</outcome>\n</clip_evaluation>"
    if len(verdicts) == 1:
        scores = "\n".join(f"<{criterion}>{mean:.3f}</{criterion}>" for criterion, mean in known.items())
    else:
        scores = orjson.dumps({criterion: round(mean, 3) for criterion, mean in known.items()}).decode()
    lines = [
        "<clip_evaluation>",
        "<scores>",
        scores,
        "</scores>",
        f"<summary>{_combined(scored, 'summary')}</summary>",
        f"<reasoning>{_combined(scored, 'reasoning')}</reasoning>",
    ]
    if len(verdicts) > 1:
        judges, voices = {row["judge"] for row in scored}, {row["judge"] for row in verdicts}
        lines.append(f"<model_info>Averaged from {len(judges)} of {len(voices)} models</model_info>")
    return "\n".join([*lines, "</clip_evaluation>"])


def _combined(verdicts: list[Row], column: str) -> str:
    texts = [row[column] or "" for row in verdicts]
    if len(texts) > 1:
        return html.escape("Combined evaluation: " + " | ".join(texts), quote=False)
    return html.escape(texts[0], quote=False)


def _judge_record(
    trajectory: Trajectory, clips: list[Clip], verdicts: list[Row], replies: Mapping[str, str]
) -> JsonObject:
    contents = {clip.index: clip for clip in clips}
    return {
        "task_id": trajectory.task_id,
        "trajectory_id": trajectory.id,
        "model_name": f"{verdicts[0]['provider']}_{verdicts[0]['model']}",
        "total_clips": len(clips),
        "evaluations": [
            {
                "clip_index": row["clip_index"],
                "sample": row["sample"],
                "tool_type": row["tool_type"],
                "clip_content": contents[row["clip_index"]].content,
                "evaluation_input": {
                    "prompt_length": row.get("prompt_length"),
                    "tool_type": row["tool_type"],
                    "has_tool_call": not contents[row["clip_index"]].is_final,
                },
                "evaluation_output": {
                    "success": row["outcome"] == "scored",
                    "outcome": row["outcome"],
                    "scores": row["scores"],
                    "summary": row["summary"],
                    "reasoning": row["reasoning"],
                    "model_name": row["model"],
                    "provider": row["provider"],
                    "raw_response": replies.get(row["ledger_key"]),
                    "error_message": row["error"],
                },
            }
            for row in verdicts
        ],
    }


def _safe(name: str) -> str:
    """A name that is safe in a file name. A changed name gets a digest, so that different names stay different."""
    safe = "".join(character if character.isalnum() or character in "-_." else "-" for character in name)[:80]
    return safe if safe == name and not name.startswith(".") else f"{safe.lstrip('.')}-{digest(name)[:8]}"
