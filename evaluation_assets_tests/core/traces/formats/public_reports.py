"""How the inputs below `public-reports` of the third-party data are read, in the shape that `reported.py` describes.

By folder, with the name of a suite after a colon where there are several. `pending` says what is still misread; the
test then expects a failure.
"""

from evaluation_assets_tests.core.traces.formats.reported import Expected

_PASSES: Expected = {"passed": True}
_FAILS: Expected = {"passed": False}
_BUS: Expected = {
    "calls": ["bus"],
    "arguments": [{"to": "Hov"}],
    "results": ["line 4"],
    "input_tokens": 170,
    "output_tokens": 15,
    "final_answer": "Line 4.",
    "agents": ["bus agent"],
}
_NOTES: Expected = {"calls": 1, "final_answer": "There is one note: plan.md", "flags": []}
_TIDE: Expected = {
    "calls": ["tide"],
    "arguments": [{"at": "Esbjerg"}],
    "results": ["high 3"],
    "final_answer": "High at 3.",
}
_CONFIG: Expected = {
    "calls": 2,
    "agents": 2,
    "input_tokens": 145,
    "output_tokens": 15,
    "final_answer": "It is app.toml.",
}


def _answer(case: str, passed: bool) -> Expected:
    return {"task_id": case, "case": {"passed": passed}}


PUBLIC_REPORTS: dict[str, Expected] = {
    "a01_dup_and_parallel": {
        "trajectories": [
            {"task_id": "dup", "case": {"passed": False, "parameter_accuracy": 0.5}},
            {"task_id": "par", "case": {"passed": True, "precision": 1.0, "recall": 1.0, "parameter_accuracy": 1.0}},
        ],
        "reading": "complete",
    },
    "a02_greedy:suite_a.json": {"trajectories": [{"case": {"parameter_accuracy": 2 / 3}}]},
    "a02_greedy:suite_b.json": {"trajectories": [{"case": {"parameter_accuracy": 2 / 3}}]},
    "a04_tolerance": {"trajectories": [_answer("t1", True), _answer("t2", False), _answer("t3", False)]},
    "a05_numbers": {
        "trajectories": [
            _answer("n1", True),
            _answer("n2", True),
            _answer("n3", True),
            _answer("n4", False),
            _answer("n5", False),
            _answer("n6", False),
            _answer("n7", True),
            _answer("n8", True),
        ],
    },
    "a06_mlflow_rollup": {
        "trajectories": [{"input_tokens": 300, "output_tokens": 30, "calls": 1}],
        "reading": "partial",
        "sentence": "600",
    },
    "a06b_mlflow_usage_key": {
        "trajectories": [{"input_tokens": 300, "output_tokens": 30, "calls": 1}],
    },
    "a07_langfuse_cached_beside": {
        "trajectories": [{"input_tokens": 17903, "cached_tokens": 17817, "output_tokens": 40}],
        "reading": "complete",
    },
    "a07b_langfuse_cached_inside": {
        "trajectories": [{"input_tokens": 17903, "cached_tokens": 17817, "output_tokens": 40}],
        "reading": "complete",
    },
    "a07c_langfuse_anthropic": {
        "trajectories": [{"input_tokens": 1505, "cached_tokens": 1200, "output_tokens": 12}],
        "reading": "complete",
    },
    "a07d_otel_cached_inside": {
        "trajectories": [{"input_tokens": 1700, "cached_tokens": 700, "output_tokens": 30, "calls": 1, "results": 1}],
        "reading": "complete",
    },
    "a08_agno_double_encoded": {
        "trajectories": [
            {"arguments": [{"city": "Hue"}], "results": ["rain"], "input_tokens": 120, "output_tokens": 8}
        ],
        "reading": "complete",
    },
    "a08b_openai_double_encoded": {
        "trajectories": [{"arguments": [{"city": "Hue"}], "case": _PASSES}],
        "reading": "complete",
    },
    "a09_concatenated_args": {
        "trajectories": [
            {"calls": 1, "errors": 1, "case": {"passed": False, "issues": ["missing_call", "missing_parameter"]}}
        ],
    },
    "a10_inspect_score_on_error": {
        "trajectories": [
            {"task_id": "quiz/s1", "success": True},
            {"task_id": "quiz/s2", "success": False},
            {"task_id": "quiz/s3", "success": None, "flags": ["no_answer", "failed"]},
        ],
    },
    "a11_inspect_epochs": {
        "trajectories": [
            {"trial": 0, "success": True},
            {"trial": 1, "success": False},
            {"trial": 2, "success": True},
            {"trial": 0, "success": True},
            {"task_id": "quiz/2", "trial": 0, "success": True},
            {"task_id": "quiz/2", "trial": 1, "success": True},
            {"task_id": "quiz/2", "trial": 2, "success": True},
        ],
        "reading": "complete",
    },
    "a11b_inspect_value_kinds": {
        "trajectories": [
            {"task_id": "quiz/p", "success": None},
            {"task_id": "quiz/n", "success": False},
            {"task_id": "quiz/f", "success": None},
            {"task_id": "quiz/d", "success": None},
            {"task_id": "quiz/t", "success": True},
            {"task_id": "quiz/nan", "success": None},
            {"task_id": "quiz/str", "success": None},
            {"task_id": "quiz/w", "success": None},
        ],
        "reading": "complete",
    },
    "a12_codex_fork": {
        "trajectories": [
            {"input_tokens": 2200, "output_tokens": 80, "calls": 1},
            {"input_tokens": 2900, "output_tokens": 50, "calls": 1},
        ],
        "reading": "complete",
    },
    "a13_claude_partials": {
        "trajectories": [
            {
                "calls": ["mcp__code.search/v2__find", "mcp__code.search/v2__replace"],
                "errors": 1,
                "input_tokens": 46506,
                "cached_tokens": 45000,
                "output_tokens": 340,
                "turns": 1,
            }
        ],
        "reading": "complete",
    },
    "a15_tau2_infra": {
        "trajectories": [
            {"task_id": "0", "success": True},
            {"task_id": "0", "success": None, "flags": ["failed"]},
            {"task_id": "0", "success": None, "flags": ["failed"]},
            {"task_id": "0", "success": None, "flags": ["failed"]},
            {"task_id": "1", "success": False, "flags": []},
            {"task_id": "1", "success": False, "flags": []},
            {"task_id": "1", "success": True, "flags": []},
            {"task_id": "1", "success": False, "flags": ["step_limit"]},
            {"task_id": "2", "success": None, "flags": ["failed"]},
            {"task_id": "2", "success": None, "flags": ["failed"]},
        ],
    },
    "a17_openai_odd": {
        "trajectories": [
            {
                "calls": ["list.files/all", "list.files/all", "open"],
                "arguments": [{}, {}, {"path": "a.txt", "opts": '{"raw": true}'}],
                "results": ["a.txt", "b.txt\n[image: image/png, 8 bytes]", ""],
                "final_answer": "All read.",
            }
        ],
        "reading": "complete",
    },
    "a17b_empty_args_suite": {
        "trajectories": [{"task_id": name, "case": {"passed": True, "schema": 1.0}} for name in ("e1", "e2", "e3")],
        "reading": "complete",
    },
    "a18_mcp_iserror": {
        "trajectories": [
            {"task_id": "m3", "calls": 1, "errors": ["quota"], "case": _PASSES},
            {"task_id": "m1", "calls": 1, "errors": 1, "case": _PASSES},
            {"task_id": "m2", "calls": 1, "errors": 0, "case": _PASSES},
        ],
        "reading": "complete",
    },
    "a18b_mcp_iserror_openai": {
        "trajectories": [{"task_id": "m1", "errors": 1}, {"task_id": "m2", "errors": 0}],
        "reading": "complete",
    },
    "a20_langfuse_strands_tool": {
        "trajectories": [
            {
                "calls": 1,
                "arguments": [{"caseId": "abc"}],
                "results": ["open"],
                "input_tokens": 130,
                "output_tokens": 21,
                "final_answer": "Case abc is open.",
            }
        ],
    },
    "a21_swebench_report": {
        "trajectories": [
            {"task_id": "o__r-1", "success": True},
            {"task_id": "o__r-2", "success": False},
            {"task_id": "o__r-3", "success": False},
            {"task_id": "o__r-4", "success": None},
            {"task_id": "o__r-5", "success": None},
        ],
    },
    "a22_think_close_only": {
        "trajectories": [
            {"final_answer": "Stour", "case": _PASSES},
            {"final_answer": "Traun", "case": _PASSES},
            {"final_answer": "Danube", "case": _PASSES},
        ],
        "reading": "complete",
    },
    "a24_langsmith_timezone": {
        "trajectories": [{**_TIDE, "duration_s": 10.0, "started_at": "2025-12-24T10:00:00Z"}],
        "reading": "complete",
    },
    "a24b_langsmith_generations": {"trajectories": [_TIDE], "reading": "complete"},
    "a24c_langsmith_wrap_openai": {
        "trajectories": [{**_TIDE, "input_tokens": 20, "output_tokens": 4}],
        "reading": "complete",
    },
    "b01_opencode_text_after_tool": {
        "trajectories": [_NOTES],
        "reading": "complete",
    },
    "b01b_opencode_two_steps_in_one_message": {
        "trajectories": [{**_NOTES, "input_tokens": 290, "output_tokens": 30, "cost_usd": 0.03}],
        "reading": "complete",
    },
    "b01c_opencode_text_before_tool": {"trajectories": [{"calls": 1, "final_answer": None}]},
    "b02_uimessage_text_after_tool": {"trajectories": [_NOTES], "reading": "complete"},
    "b02b_anthropic_text_after_tool": {"trajectories": [_NOTES], "reading": "complete"},
    "b03_console_exporter_lines": {"trajectories": [_BUS], "reading": "complete"},
    "b03b_console_exporter_pretty": {"trajectories": [_BUS], "reading": "complete"},
    "b03c_spans_dict_snake": {
        "trajectories": [_BUS],
        "reading": "complete",
    },
    "b04_agentbench": {
        "trajectories": [
            {"task": "Use GET/POST/FINISH. Question: how many beds are free in ward 2?", "final_answer": "[7]"},
            {"final_answer": None, "flags": ["step_limit", "no_answer"]},
        ],
    },
    "b05_cc_workflow_subagents": {
        "trajectories": [
            {
                "calls": 3,
                "errors": 1,
                "agents": 3,
                "input_tokens": 560,
                "output_tokens": 56,
                "final_answer": "Both batches are swept.",
            }
        ],
        "rejected": 0,
        "reading": "complete",
    },
    "b05b_cc_subagents_plain": {"trajectories": [{"calls": 2}], "reading": "complete"},
    "b08_sharegpt": {
        "trajectories": [
            {"calls": 1, "arguments": [{"n": 2}], "results": ["[3, 5]"], "final_answer": "You rolled 3 and 5."}
        ],
        "reading": "complete",
    },
    "b09_n8n_steps": {
        "trajectories": [
            {
                "calls": 1,
                "arguments": [{"city": "Hov"}],
                "results": ['[{"temp":12}]'],
                "final_answer": "It is 12 degrees in Hov.",
            }
        ],
    },
    "b10_vapi": {
        "trajectories": [{"calls": 1, "final_answer": None}],
    },
    "b11_livekit": {
        "trajectories": [{"calls": 1, "errors": ["fully booked"], "final_answer": "We are full, sorry."}],
    },
    "b12_aider_llm_log": {
        "readings": [
            {"refused": ""},
            {"trajectories": [{"agents": 1}] * 4},
            {"trajectories": [{"agents": 1, "task": "Make step 0 of the counter."}]},
        ],
    },
    "b13_cc_agent_file_without_agentid": {
        "trajectories": [_CONFIG],
        "reading": "complete",
    },
    "b13b_cc_agent_file_with_agentid": {"trajectories": [_CONFIG], "reading": "complete"},
}
