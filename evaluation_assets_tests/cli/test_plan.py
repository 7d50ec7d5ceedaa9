"""What `plan` quotes against what `evaluate` then pays, with a real endpoint."""

import json
import re
import shutil
import sqlite3
from dataclasses import dataclass
from pathlib import Path

import dagster as dg
import pytest
import yaml
from click.testing import CliRunner
from upath import UPath

from evaluation_assets.cli.main import main as command_line
from evaluation_assets.cli.quotes import dollars
from evaluation_assets.core.intake.clips.tool_types import load_tool_types
from evaluation_assets.core.intake.drops import one_file
from evaluation_assets.core.intake.preprocessing.rules import Settings
from evaluation_assets.core.judging.canaries import CanarySettings
from evaluation_assets.core.judging.panel import judges_of, load_panel
from evaluation_assets.core.judging.rubrics.model import load_rubrics
from evaluation_assets.core.judging.selection import session_level
from evaluation_assets.core.pipeline.planning import Calls, plan
from evaluation_assets.core.system.installation import Installation
from evaluation_assets_tests.conftest import SAMPLE, call, record
from evaluation_assets_tests.defs.test_model_judges import cli
from evaluation_assets_tests.defs.test_sessions import EXAMPLES
from evaluation_assets_tests.model_judging import CLIPS, drop_of, installed, judge
from evaluation_assets_tests.model_server import ModelServer, model_server, rule
from evaluation_assets_tests.third_party import data

WITHIN = 0.25
"""How far the bill may be from what was expected, once the ledger knows how long the model's replies are."""

UNKNOWN_MODEL = 1.0
"""How far it may be when nothing is known: the length of replies is an assumption."""


@dataclass(frozen=True)
class Quoted:
    """The numbers of one judge in the output of `plan`."""

    new: int
    known: int
    expected_usd: float = 0.0
    most_usd: float = 0.0
    expected_tokens: int = 0
    most_tokens: int = 0


def quoted(output: str) -> Quoted:
    new, known = re.search(r"(\d+) new calls.*?, (\d+) in the ledger", output).groups()  # type: ignore[union-attr]
    if not int(new):
        return Quoted(0, int(known))
    expected = re.search(r"expected \$([\d.]+): ([\d,]+) tokens in", output)
    most = re.search(r"at most  \$([\d.]+): ([\d,]+) tokens in", output)
    assert expected is not None and most is not None, output
    tokens = [int(found[2].replace(",", "")) for found in (expected, most)]
    return Quoted(int(new), int(known), float(expected[1]), float(most[1]), *tokens)


def long_drop(count: int, clips: int = 8) -> bytes:
    """Conversations that are long enough for a prefix cache."""
    text = "".join(call(f"question {number}", f"a finding of step {number}. " * 40) for number in range(clips))
    texts = [text.replace("finding", f"finding {number}") for number in range(count)]
    return b"".join(record(f"long{number}", f"{text}<answer>4</answer>") for number, text in enumerate(texts))


class Quoting:
    """An installation, `plan` on its files, and their evaluation."""

    def __init__(self, home: Path, instance: dg.DagsterInstance, judge: dict[str, object]) -> None:
        self.home = home
        self.judged = installed(home, instance, judge)
        self.panel = home.parent / "panel.yaml"
        self.panel.write_text(json.dumps({"judges": [judge]}))

    def plan(self, file: Path) -> Quoted:
        arguments = [str(file), "--home", str(self.home), "--panel", str(self.panel), "--on-violation", "flag"]
        done = CliRunner().invoke(command_line, ["plan", *arguments])
        assert done.exit_code == 0, done.output
        return quoted(done.output)

    def evaluate(self, file: Path) -> tuple[float, int, int]:
        """US dollars that it cost, replies, and tokens of input."""
        before = self._bill()
        drop = Path(self.judged.home.drops.path) / file.name
        drop.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(file, drop)
        if (sidecar := file.with_suffix(".drop.yaml")).exists():
            shutil.copyfile(sidecar, drop.with_suffix(".drop.yaml"))
        self.judged.run(drop.stem, ops={"evaluate_drop": {"config": {"on_violation": "flag"}}})
        levels = ("clip_verdicts", "category_verdicts", "trajectory_verdicts", "session_verdicts")
        rows = [row for level in levels for row in self.judged.rows(drop.stem, level, "one")]
        usd, replies = (now - then for now, then in zip(self._bill(), before, strict=True))
        return usd, int(replies), sum(row["input_tokens"] or 0 for row in rows)

    def _bill(self) -> tuple[float, int]:
        if not (self.home / "ledger.sqlite").exists():
            return 0.0, 0
        with sqlite3.connect(self.home / "ledger.sqlite") as ledger:
            return ledger.execute("SELECT coalesce(sum(cost_usd), 0), count(*) FROM replies").fetchone()


PUBLIC = {"agentdataeva": "agentdataeva/testv1.json"}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("protocol", "content"),
    [
        ("openai", "sample"),
        ("anthropic", "sample"),
        ("openai", "sessions"),
        ("openai", "long"),
        ("anthropic", "long"),
        ("anthropic", "agentdataeva"),
    ],
)
def test_the_bill_is_about_what_was_expected_and_never_above_the_bound(
    tmp_path: Path, instance: dg.DagsterInstance, server: ModelServer, protocol: str, content: str
) -> None:
    price = {"input": 1.0, "output": 5.0, "cached_input": 0.1, "cache_write": 1.25}
    quoting = Quoting(tmp_path / "home", instance, judge(server, protocol=protocol, price=price))
    (tmp_path / "before.jsonl").write_bytes(drop_of(3))
    (tmp_path / "long.jsonl").write_bytes(long_drop(4))
    given = {"sample": SAMPLE, "sessions": EXAMPLES, "long": tmp_path / "long.jsonl"}
    file = given[content] if content in given else data(PUBLIC[content])

    unknown = quoting.plan(file)
    assert not quoting.home.exists()
    assert server.requests() == []
    quoting.evaluate(tmp_path / "before.jsonl")
    planned = quoting.plan(file)
    paid, replies, used = quoting.evaluate(file)
    for quote in (unknown, planned):
        assert quote.new == replies
        assert quote.most_usd >= paid
        assert quote.most_tokens >= used
    assert planned.expected_usd == pytest.approx(paid, rel=WITHIN)
    assert planned.expected_tokens == pytest.approx(used, rel=WITHIN)
    assert unknown.expected_usd == pytest.approx(paid, rel=UNKNOWN_MODEL)
    assert quoting.plan(file) == Quoted(0, replies)


def test_the_bound_holds_where_every_reply_is_invalid_and_asked_for_again(
    tmp_path: Path, instance: dg.DagsterInstance, server: ModelServer
) -> None:
    server.script([rule("lenient", by=0, times=1), rule("invalid_json")])  # without a good one, it stops after ten
    quoting = Quoting(tmp_path / "home", instance, judge(server))
    file = tmp_path / "long.jsonl"
    file.write_bytes(long_drop(1))
    quote = quoting.plan(file)
    paid, replies, used = quoting.evaluate(file)
    assert replies == 2 * quote.new - 1
    assert quote.most_usd >= paid
    assert quote.most_tokens >= used


def test_every_sample_and_only_what_is_new_is_counted_at_all_levels(tmp_path: Path, server: ModelServer) -> None:
    (tmp_path / "panel.yaml").write_text(json.dumps({"judges": [judge(server)]}))
    (tmp_path / "d.jsonl").write_bytes(drop_of(3))
    arguments = [tmp_path / "d.jsonl", "--home", tmp_path / "home", "--panel", tmp_path / "panel.yaml"]
    before = cli("plan", *arguments)
    assert f"{3 * (CLIPS + 3)} new calls (clip {3 * CLIPS}, category 3, trajectory 3, answer 3), 0 in" in before.stdout
    assert cli("evaluate", *arguments).returncode == 0
    (tmp_path / "panel.yaml").write_text(json.dumps({"judges": [judge(server, repeats=2)]}))
    repeated = quoted(cli("plan", *arguments).stdout)
    assert (repeated.new, repeated.known) == (3 * (CLIPS + 3), 3 * (CLIPS + 3))
    (tmp_path / "panel.yaml").write_text(json.dumps({"judges": [judge(server, price=None), judge(server, "two")]}))
    unpriced = cli("plan", *arguments).stdout
    assert "0 new calls, 18 in the ledger" in unpriced
    assert len(server.requests(bodies=False)) == 3 * (CLIPS + 3)


@pytest.mark.parametrize("repeats", [1, 2])
def test_the_canaries_of_a_suite_are_quoted_when_verdicts_are_new_and_are_in_the_cost_of_the_report(
    tmp_path: Path, instance: dg.DagsterInstance, server: ModelServer, repeats: int
) -> None:
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "gate.yaml").write_text(f"canaries: {{repeats: {repeats}}}")
    quoting = Quoting(tmp_path / "home", instance, judge(server))
    (tmp_path / "before.jsonl").write_bytes(drop_of(3, "before"))
    (tmp_path / "d.jsonl").write_bytes(drop_of(1))
    quoting.evaluate(tmp_path / "before.jsonl")
    alone = quoting.plan(tmp_path / "d.jsonl")
    (tmp_path / "d.drop.yaml").write_text("suite: s\n")
    quote = quoting.plan(tmp_path / "d.jsonl")
    assert quote.new == alone.new + 12 * repeats and quote.most_usd > alone.most_usd
    paid, replies, _ = quoting.evaluate(tmp_path / "d.jsonl")
    assert quote.new == replies
    assert quote.most_usd >= paid
    assert quote.expected_usd == pytest.approx(paid, rel=WITHIN)
    assert quoting.plan(tmp_path / "d.jsonl") == Quoted(0, replies - 12 * repeats), "nothing new: no canaries"
    told = json.loads((quoting.judged.home.reports("d") / "report.json").read_text())["judges"][0]
    outcomes = told["outcomes"]["canary"]
    assert sum(outcomes.values()) == 12 * repeats
    assert outcomes.keys() <= {"scored", "abstained"}  # the server's model scores by chance, and may score nothing
    assert told["cost_usd"] == pytest.approx(paid)


LEVEL_WITHIN = 0.05
"""How far the bill of a level may be from its quote, once the model has judged another drop."""


def bills(home: Path, drop: str, judge: str = "one") -> dict[str, list[float]]:
    """New calls, tokens in, tokens out and US dollars that were booked, by level."""
    at = Installation.at(str(home))
    found: dict[str, list[float]] = {}
    for table in ("clip_verdicts", "category_verdicts", "trajectory_verdicts", "session_verdicts"):
        for row in at.table(drop, table, judge).rows():
            if row["from_ledger"]:
                continue
            name = row.get("subject", "")
            level = "clip" if table == "clip_verdicts" else "category" if table == "category_verdicts" else name
            level = session_level(name) if table == "session_verdicts" else level
            own = found.setdefault(level, [0, 0, 0, 0.0])
            for index, amount in enumerate((1, row["input_tokens"], row["output_tokens"], row["cost_usd"])):
                own[index] += amount
    return found


def quotes_of(home: Path, panel: Path, file: Path) -> Calls:
    at = Installation.at(str(home))
    judges = judges_of(load_panel(UPath(panel)), at.ledger_url)
    settings = Settings(on_violation="flag")
    planned = plan(one_file(UPath(file)), settings, load_rubrics(), load_tool_types(), judges, CanarySettings())
    return planned.calls[0]


@pytest.mark.slow
@pytest.mark.parametrize("protocol", ["openai", "anthropic"])
def test_the_bill_of_every_level_is_within_a_twentieth_of_its_quote(
    tmp_path: Path, server: ModelServer, protocol: str
) -> None:
    price = {"input": 1.0, "output": 5.0, "cached_input": 0.1, "cache_write": 1.25}
    home, panel = tmp_path / "home", tmp_path / "panel.yaml"
    panel.write_text(json.dumps({"judges": [judge(server, protocol=protocol, price=price)]}))
    sessions, long = tmp_path / "sessions.json", tmp_path / "long.jsonl"
    sessions.write_bytes(EXAMPLES.read_bytes().replace(b"weather", b"climate").replace(b" the ", b" this "))
    long.write_bytes(long_drop(4))
    common = ["--home", home, "--panel", panel, "--yes", "--quiet"]
    assert cli("evaluate", EXAMPLES, *common).returncode in (0, 1)  # the server's scores are random, and checks look
    quoted_calls = {file: quotes_of(home, panel, file) for file in (sessions, long)}
    assert cli("evaluate", sessions, long, *common).returncode in (0, 1)
    levels: set[str] = set()
    for file, quoted_call in quoted_calls.items():
        paid = bills(home, file.stem)
        assert set(paid) == set(quoted_call.by_level)
        levels |= set(paid)
        for level, (calls, tokens_in, _, usd) in paid.items():
            quote = quoted_call.by_level[level]
            assert quote.expected.calls == calls
            assert quote.expected.input_tokens == pytest.approx(tokens_in, rel=LEVEL_WITHIN), (file.stem, level)
            assert quote.expected.usd == pytest.approx(usd, rel=LEVEL_WITHIN), (file.stem, level)
            assert quote.most.usd is not None and quote.most.usd >= usd
        again = quotes_of(home, panel, file)
        assert again.new == {}
        assert sum(again.known.values()) >= sum(calls for calls, *_ in paid.values())
    assert levels >= {"clip", "category", "trajectory", "interaction", "turn", "session"}


@pytest.mark.slow
def test_the_price_of_batches_is_their_bill_and_is_compared_with_conversations(
    tmp_path: Path, server: ModelServer
) -> None:
    price = {"input": 1.0, "output": 5.0, "cached_input": 0.1, "cache_write": 1.25}
    home, panel, before, long = (tmp_path / name for name in ("home", "panel.yaml", "before.jsonl", "long.jsonl"))
    before.write_bytes(long_drop(3, clips=5))
    long.write_bytes(long_drop(4))
    own = judge(server, protocol="anthropic", price=price, preset="standard", timeouts={"batch_poll_s": 0.05})
    panel.write_text(json.dumps({"judges": [own]}))
    common = ["--home", home, "--panel", panel, "--yes", "--quiet"]
    assert cli("evaluate", before, *common).returncode in (0, 1)
    conversations = quotes_of(home, panel, long)
    assert conversations.batched is not None
    printed = cli("plan", long, "--home", home, "--panel", panel).stdout
    assert f"mode: batch would cost {dollars(conversations.batched.expected.usd)}" in printed

    panel.write_text(json.dumps({"judges": [own | {"mode": "batch"}]}))
    batches = quotes_of(home, panel, long)
    assert batches.quote == conversations.batched and batches.batched is None
    printed = cli("plan", long, "--home", home, "--panel", panel).stdout
    assert "in batches" in printed and "cached" not in printed.split("preset", 1)[1]
    assert cli("evaluate", long, *common).returncode in (0, 1)
    paid = sum(usd for *_, usd in bills(home, "long").values())
    assert batches.quote.expected.usd == pytest.approx(paid, rel=LEVEL_WITHIN)


@pytest.mark.slow
@pytest.mark.parametrize("protocol", ["openai", "anthropic"])
def test_what_samples_ask_in_the_same_words_is_read_from_the_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, protocol: str
) -> None:
    monkeypatch.setenv("TEST_KEY", "k")
    price = {"input": 1.0, "output": 5.0, "cached_input": 0.1, "cache_write": 1.25}
    home, panel, before, long = (tmp_path / name for name in ("home", "panel.yaml", "before.jsonl", "long.jsonl"))
    before.write_bytes(long_drop(3, clips=5))
    long.write_bytes(long_drop(4))
    common = ["--home", home, "--panel", panel, "--yes", "--quiet"]
    with model_server(latency=0.05) as server:  # what is asked side by side is in no cache
        own = judge(server, protocol=protocol, price=price, preset="quick", repeats=3)
        panel.write_text(json.dumps({"judges": [own]}))
        assert cli("evaluate", before, *common).returncode in (0, 1)
        quoted_calls = quotes_of(home, panel, long)
        assert cli("evaluate", long, *common).returncode in (0, 1)
    paid = sum(usd for *_, usd in bills(home, "long").values())
    assert quoted_calls.quote.expected.usd == pytest.approx(paid, rel=LEVEL_WITHIN)
    rows = Installation.at(str(home)).table("long", "trajectory_verdicts", "one").rows()
    cached = {row["sample"]: row["cached_tokens"] / row["input_tokens"] for row in rows if row["input_tokens"]}
    assert cached[0] < 0.1 and min(cached[1], cached[2]) > 0.8


def test_the_same_question_is_priced_asked_and_counted_once(tmp_path: Path, server: ModelServer) -> None:
    home, panel, drop = tmp_path / "home", tmp_path / "panel.yaml", tmp_path / "copies.jsonl"
    lines = long_drop(2).splitlines(keepends=True)
    home.mkdir()
    drop.write_bytes(b"".join(lines * 3))
    panel.write_text(json.dumps({"judges": [judge(server, price={"input": 1.0, "output": 5.0}, preset="standard")]}))
    common = ["--home", home, "--panel", panel, "--yes", "--quiet"]
    quoted_calls = quotes_of(home, panel, drop)
    assert cli("evaluate", drop, *common).returncode in (0, 1)
    asked = len(server.requests())
    assert quoted_calls.quote.expected.calls == asked
    with sqlite3.connect(home / "ledger.sqlite") as ledger:
        ((replies, paid),) = ledger.execute("SELECT count(*), sum(cost_usd) FROM replies").fetchall()
    assert replies == asked
    (told,) = json.loads((home / "reports" / "copies" / "report.json").read_text())["judges"]
    assert told["cost_usd"] == pytest.approx(paid)


def test_other_rubrics_are_priced_without_changing_the_home(tmp_path: Path, server: ModelServer) -> None:
    home, panel, drop, rubrics = (tmp_path / name for name in ("home", "panel.yaml", "long.jsonl", "rubrics"))
    drop.write_bytes(long_drop(2))
    price = {"input": 1.0, "output": 5.0}
    panel.write_text(json.dumps({"judges": [judge(server, price=price, levels=["clip", "trajectory"])]}))
    common = ["--home", home, "--panel", panel]
    assert cli("evaluate", drop, *common, "--yes", "--quiet").returncode in (0, 1)
    assert " 0 new calls" in cli("plan", drop, *common).stdout
    (rubrics / "trajectory").mkdir(parents=True)
    shipped = load_rubrics().choose("trajectory")
    changed = shipped.model_dump(mode="json", exclude_none=True) | {"description": "Whether the work was done."}
    (rubrics / "trajectory" / f"{shipped.name}.yaml").write_text(yaml.safe_dump(changed))
    empty = tmp_path / "empty"
    empty.mkdir()
    refused = cli("plan", drop, *common, "--rubrics", empty)
    assert refused.returncode == 2 and "has no rubrics; they are files <level>/<name>.yaml" in refused.stderr
    other = cli("plan", drop, *common, "--rubrics", rubrics).stdout
    assert re.search(r"2 new calls \(trajectory 2\), \d+ in the ledger", other), other
    assert cli("plan", drop, *common).stdout.count(" 0 new calls") == 1


def test_presets_are_priced_once_for_all_drops(tmp_path: Path, server: ModelServer) -> None:
    for name in "ab":
        (tmp_path / f"{name}.jsonl").write_bytes(drop_of(1))
    (tmp_path / "panel.yaml").write_text(json.dumps({"judges": [judge(server, price={"input": 1, "output": 5})]}))
    common = ["--home", tmp_path / "home", "--panel", tmp_path / "panel.yaml"]
    said = cli("plan", tmp_path / "a.jsonl", tmp_path / "b.jsonl", *common).stdout
    assert said.count("new calls (") == 3 and said.count("    quick ") == said.count("reply length:") == 1
    assert said.index("all 2 drops") < said.index("reply length:")
    for price in (None, {"input": 0, "output": 0}):
        (tmp_path / "panel.yaml").write_text(json.dumps({"judges": [judge(server, price=price)]}))
        unpriced = cli("plan", tmp_path / "a.jsonl", *common).stdout
        assert "reply length:" in unpriced and "    quick " not in unpriced and "mode: batch" not in unpriced
    free = cli("plan", tmp_path / "a.jsonl", tmp_path / "b.jsonl", "--home", tmp_path / "home").stdout
    assert "all 2 drops" not in free, "nothing is asked in any"


def test_a_drop_that_cannot_be_read_is_named_and_the_others_are_priced(tmp_path: Path) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    for name, content in {"a": record("a"), "b": b"not JSON", "c": record("c")}.items():
        (folder / f"{name}.jsonl").write_bytes(content)
    done = CliRunner().invoke(command_line, ["plan", str(folder), "--home", str(tmp_path / "home")])
    assert done.exit_code == 2
    assert "evaluation-assets: b: b.jsonl is not valid JSON: line 1" in done.stderr
    assert "\nc\n  records            1\n" in done.stdout and "\n2 of 3 drops; not read: b\n" in done.stdout


def test_a_cascade_costs_between_its_first_stage_and_all_of_them(tmp_path: Path) -> None:
    models = {"small": 1.0, "large": 10.0}
    judges = [
        {"name": name, "provider": "openai", "model": "gpt-5", "price": {"input": usd, "output": usd}}
        for name, usd in models.items()
    ]
    (tmp_path / "panel.yaml").write_text(json.dumps({"judges": judges, "cascade": list(models)}))
    (tmp_path / "d.jsonl").write_bytes(drop_of(2))
    said = (
        CliRunner()
        .invoke(
            command_line,
            ["plan", str(tmp_path / "d.jsonl"), "--home", str(tmp_path), "--panel", str(tmp_path / "panel.yaml")],
        )
        .output
    )
    each = [float(amount) for amount in re.findall(r"^    expected \$([\d.]+)", said, re.MULTILINE)]
    (least,) = re.findall(r"with the cascade   from \$([\d.]+), if its first stage decides everything", said)
    assert float(least) == each[0] < each[1]
