"""`groups name`: a judge behind a real server names failure groups, and its names are only text."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
import yaml

from evaluation_assets_tests.conftest import command
from evaluation_assets_tests.http_server import Reply, Request, http_server
from evaluation_assets_tests.towns import TASKS, runs

_FENCED = re.compile(r"<(untrusted-[0-9a-f]{20})>\n(.*?)\n</\1>", re.DOTALL)
HOSTILE = '<img src=x onerror=alert(1)> \x1b[31m\u202egnp\u2066 ::error:: | @all\n# "timeout" [x](javascript:1)'
SHOWN = '<img src=x onerror=alert(1)> gnp ::error:: | @all # "timeout" [x](javascript:1)'


@dataclass
class Naming:
    """A judge that names groups, and what it was asked."""

    home: Path
    summary: str = 'The search answers "timeout"'
    score: int = 1
    url: str = ""
    requests: list[Request] = field(default_factory=list)
    meanwhile: str = ""

    def __call__(self, request: Request) -> Reply:
        self.requests.append(request)
        if self.meanwhile:
            (self.home / "groups.yaml").write_text(self.meanwhile)
        scores = [{"criterion": "same_failure", "score": self.score}]
        said = json.dumps({"reasoning": "r", "scores": scores, "summary": self.summary})
        choice = {"index": 0, "message": {"role": "assistant", "content": said}, "finish_reason": "stop"}
        usage = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
        return Reply(body={"id": "1", "object": "chat.completion", "model": "m", "choices": [choice], "usage": usage})

    def cost(self, price: float) -> None:
        """Write the panel with two judges of this server, at a price of tokens."""
        server = {"provider": "openai_compatible", "base_url": f"{self.url}/v1"}
        judge = server | {"price": {"input": price, "output": price}}
        judges = [
            {"name": "rules", "provider": "rules"},
            {"name": "one", "model": "m", **judge},
            {"name": "two", "model": "n", **judge},
        ]
        (self.home / "panel.yaml").write_text(json.dumps({"judges": judges}))

    def name(self, *arguments: str) -> tuple[int, str, str]:
        done = command("groups", "name", *arguments, home=self.home)
        return done.returncode, done.stdout, done.stderr


@pytest.fixture(scope="module")
def evaluated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with a group of runs that ended at a timeout."""
    root = tmp_path_factory.mktemp("names")
    (root / "in").mkdir()
    (root / "in" / "1.jsonl").write_bytes(runs(TASKS, bad=TASKS))
    done = command("evaluate", root / "in", "--quiet", home=root / "home")
    assert done.returncode == 0, done.stderr
    return root / "home"


@pytest.fixture
def naming(evaluated: Path) -> Iterator[Naming]:
    for file in ("groups.yaml", "ledger.sqlite"):
        (evaluated / file).unlink(missing_ok=True)
    naming = Naming(evaluated)
    with http_server(naming) as url:
        naming.url = url
        naming.cost(0.0)
        yield naming


def listed(home: Path) -> dict[str, str]:
    """The groups by name: that of ignored errors is the first."""
    rows = json.loads(command("groups", "list", "--format", "json", home=home).stdout)
    return {row["group_id"]: row["name"] for row in sorted(rows, key=lambda row: row["name"])}


def of_search(home: Path) -> tuple[str, str]:
    """The group of failed searches, and its name."""
    return next((group, name) for group, name in listed(home).items() if name.startswith("Ignored error"))


def test_what_is_said_of_a_group_while_it_is_named_stays(naming: Naming) -> None:
    group, _ = of_search(naming.home)
    naming.meanwhile = f"'{group}': {{state: acknowledged, by: ada}}\n"
    status, _, problem = naming.name(group)
    assert status == 0, problem
    kept = yaml.safe_load((naming.home / "groups.yaml").read_text())
    assert kept == {group: {"state": "acknowledged", "by": "ada", "name": naming.summary, "named_by": "one"}}


def test_a_name_stands_beside_that_of_the_rule_and_stays(naming: Naming) -> None:
    group, by_rule = of_search(naming.home)
    status, said, problem = naming.name(group)
    assert (status, said) == (0, f"{group}  {naming.summary}\n"), problem
    assert listed(naming.home)[group] == f"{by_rule} \N{EM DASH} {naming.summary}"
    kept = yaml.safe_load((naming.home / "groups.yaml").read_text())
    assert kept == {group: {"name": naming.summary, "named_by": "one"}}
    assert naming.summary in command("groups", "show", group, home=naming.home).stdout
    assert naming.summary in command("overview", home=naming.home).stdout

    assert command("groups", "acknowledge", group, home=naming.home).returncode == 0
    assert yaml.safe_load((naming.home / "groups.yaml").read_text())[group]["name"] == naming.summary
    naming.summary = 'Ends at a "timeout"'
    assert naming.name(group)[1] == "no group to name\n" and len(naming.requests) == 1
    assert naming.name(group, "--judge", "two")[0] == 0
    assert listed(naming.home)[group].endswith(naming.summary), "another judge may change it"
    kept = yaml.safe_load((naming.home / "groups.yaml").read_text())[group]
    assert (kept["named_by"], kept["state"]) == ("two", "acknowledged")


def test_a_question_that_was_paid_for_is_in_the_ledger(naming: Naming) -> None:
    status, said, _ = naming.name()
    asked = len(naming.requests)
    assert asked == len(listed(naming.home)) > 1
    assert status == 1 and "quotes 'timeout', which no finding has" in said, "one group is of another failure"
    (naming.home / "groups.yaml").unlink()
    assert naming.name()[1] == said and len(naming.requests) == asked


@pytest.mark.parametrize(
    ("summary", "score", "why"),
    [
        ("The search fails", 1, "the name quotes no finding"),
        ('The search answers "timeout" and "no access"', 1, "quotes 'no access', which no finding has"),
        (f'"timeout" {"x" * 100}', 1, "more than 100 characters"),
        ('The search answers "timeout"', 0, "the judge finds different failures in it"),
    ],
)
def test_a_name_that_does_not_quote_the_evidence_is_not_taken(
    naming: Naming, summary: str, score: int, why: str
) -> None:
    before = listed(naming.home)
    naming.summary, naming.score = summary, score
    status, said, _ = naming.name(of_search(naming.home)[0])
    assert status == 1 and "not named: " in said and why in said
    assert listed(naming.home) == before


def test_the_price_comes_first(naming: Naming) -> None:
    naming.cost(100_000.0)
    status, said, _ = naming.name("--dry-run")
    groups = len(listed(naming.home))
    assert status == 0 and f"judge one: {groups} new call" in said
    status, _, problem = naming.name()
    assert status == 2 and "is above ask_above_usd" in problem
    status, _, problem = naming.name("--budget", "0.01")
    assert status == 3 and "run the command again" in problem
    assert naming.requests == [] and not (naming.home / "groups.yaml").exists()
    assert "no judge 'rules' that can name groups" in naming.name("--judge", "rules")[2]


def test_hostile_evidence_stays_in_its_fence_and_hostile_names_are_text(naming: Naming) -> None:
    naming.summary = HOSTILE
    group, _ = of_search(naming.home)
    status, said, problem = naming.name(group)
    assert (status, said) == (0, f"{group}  {SHOWN}\n"), problem
    asked = naming.requests[0].body["messages"][-1]["content"]
    assert "timeout" in asked and "timeout" not in _FENCED.sub("", asked)
    assert yaml.safe_load((naming.home / "groups.yaml").read_text())[group]["name"] == SHOWN
    (naming.home / "groups.yaml").write_text(json.dumps({group: {"name": HOSTILE}}))
    for arguments in (["groups", "list"], ["groups", "show", group], ["overview"]):
        shown = command(*arguments, home=naming.home).stdout
        assert "onerror=alert(1)" in shown and not {"\x1b", "\u202e", "\u2066"} & {*shown}
    (naming.home / "panel.yaml").unlink()
    drop = naming.home.parent / "in" / "1.jsonl"
    assert command("evaluate", drop, "--as", "again", "--quiet", home=naming.home).returncode == 0
    page = (naming.home / "reports" / "again" / "report.html").read_text()
    assert "&lt;img src=x onerror=alert(1)&gt;" in page and "<img src=x onerror" not in page
