"""A model server for tests and benchmarks: two wire protocols, answers that fit the schema asked for,
embeddings, decision models, faults by script.

Start it in a process of its own, and give its addresses to the real SDKs:

    with model_server([rule("rate_limited", times=2, retry_after=1)]) as server:
        AsyncOpenAI(api_key="any", base_url=server.openai_url, max_retries=0)
        AsyncAnthropic(api_key="any", base_url=server.anthropic_url, max_retries=0)
        ...
        assert [asked.status for asked in server.requests()] == [429, 429, 200]

By hand: `python -m evaluation_assets_tests.model_server --port 8123 --script script.json --latency 0.5`.

`latency` is waited before every answer that is no error; with a `spread` it is the median of a lognormal distribution
with that sigma, drawn from the body, so that a run can be repeated.

**Answers** depend on the messages alone: the same messages get the same answer, whatever the model or the protocol. An
answer fits the JSON schema of the request, else the one between the lines `<schema>` and `</schema>` of its first
message; without either it is a sentence (in JSON mode an object with one). `max_tokens` is kept to.
Questions to decision models are answered with probabilities that are drawn from the messages and the question.

**Tokens** are characters by four, rounded up, of the schema and the messages (each with its role before it: see
`prompt_text`). OpenAI: cached is the longest prefix, in steps of 128 tokens from 1024 on, of an earlier answered
request with the same API key, model and `prompt_cache_key`. Anthropic: cached is everything up to the last
`cache_control` marker at which an earlier answered request had the same prefix and a marker too, from 1024 tokens on.

**A script** is a list of rules, and perhaps of settings:

    {"match": {"path": prefix of the path, "contains": text in the body, "model": name},
     "times": how often (null: always), "after": how many matches pass first, "rate": share of the matches,
     "fault": {"kind": one of FAULTS, "seconds": wait before it, ...}}
    {"rate_limit": {"requests_per_minute": n, "burst": b}}
    {"keys": [the only API keys that are accepted]}
    {"serves": {"model": name in every answer, "system_fingerprint": ...}}
    {"content_type": what every answer calls itself}
    {"batch_polls": how often a batch is still in progress when it is asked for}

Requests in batches have the path `batch`; one of them may have the fault `expired`, or an error.

The first rule that matches and is not used up applies. A rate is drawn from the body and how often it has been seen,
so a run can be repeated. Error kinds take `retry_after`, `status`, `message`, `code` and `type`; `out_of_range` and
`missing` take `property`, with decision models the name of a question, as does `refusal` there; `lenient` takes the
points `by` which scores of judges move; `text` takes the `text` to answer; `steps` takes the `steps` of an agent, of
which the one is answered that the conversation has come to (the last one for ever): `{"text": ..., "calls": [{"name":
..., "arguments": {...}}]}`, either or both. Kinds that begin with `no_` refuse requests that use a
feature (`no_json_schema`, `no_system_role`, ...) and answer others; `parts` and `in_reasoning` put the answer where
some servers do. As with the providers, a request that leaves a call unanswered is refused.
"""

from evaluation_assets_tests.model_server.faults import ERRORS
from evaluation_assets_tests.model_server.process import ModelServer, model_server
from evaluation_assets_tests.model_server.prompts import prompt_text
from evaluation_assets_tests.model_server.scripts import rule

__all__ = ["ERRORS", "ModelServer", "model_server", "prompt_text", "rule"]
