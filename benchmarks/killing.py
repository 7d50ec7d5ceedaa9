"""Whether drops are evaluated, and paid for once, while processes of an installation on several machines are killed.

    python -m benchmarks.killing [--seeds 20] [--first 1] [--kills 2] [--hosts]

Two Celery workers evaluate a few drops at a time. At random moments, one of these is killed with SIGKILL and started
again after up to five seconds: the process of a run, a worker with all its processes, Redis, PostgreSQL (Dagster's
storage and the ledger). Other processes that end are started again too, as the compose file does. Checked per seed:

- All runs end, and every drop is evaluated. A drop that Dagster does not retry is started again once by hand.
- No question has two replies in the ledger.
- The model answered a question again only if its request may have been in flight at a kill.
- The books balance: each subject has one verdict, which is scored, abstained, failed or not run.
"""

import argparse
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import dagster as dg

from evaluation_assets.resources.heartbeat import heartbeat_of
from evaluation_assets_tests.many_machines import Machines, machines
from evaluation_assets_tests.model_judging import CLIPS, drop_of, judge
from evaluation_assets_tests.model_server import ModelServer, model_server

DROPS = 3
TRAJECTORIES = 2
IN_FLIGHT = 2
KINDS = ("run", "worker", "redis", "postgres")
SUBJECTS = {"clip": CLIPS, "category": 1, "trajectory": 2}
"""Subjects of a trajectory of `drop_of`, by level."""

_MOST_SECONDS = 900.0
_POLL_SECONDS = 1.0


@dataclass(slots=True)
class Seed:
    """What happened with one seed, and what was wrong with it."""

    number: int
    kills: Counter[str] = field(default_factory=Counter)
    runs: Counter[str] = field(default_factory=Counter)
    started_by_hand: int = 0
    seconds: float = 0.0
    questions: int = 0
    asked_again: int = 0
    may_be_asked_again: int = 0
    outcomes: Counter[str] = field(default_factory=Counter)
    errors: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        def listed(counts: Counter[str]) -> str:
            return ", ".join(f"{count} {name}" for name, count in sorted(counts.items())) or "none"

        again = f"{self.questions} questions, {self.asked_again} asked again (at most {self.may_be_asked_again})"
        parts = [f"seed {self.number}: killed {listed(self.kills)}", f"runs {listed(self.runs)}", again]
        parts += [
            f"verdicts {listed(self.outcomes)}",
            f"errors {listed(self.errors)}",
            f"{self.started_by_hand} started by hand",
            f"{self.seconds:.0f} s",
        ]
        return "; ".join(parts) + "".join(f"\n  WRONG: {each}" for each in self.wrong)


class Killing:
    """Kills processes of an installation and starts them again."""

    def __init__(self, at: Machines, instance: dg.DagsterInstance, server: ModelServer) -> None:
        self.at = at
        self.instance = instance
        self.server = server

    def seed(self, number: int, kills: int) -> Seed:
        """Evaluate new drops while processes are killed."""
        result, chance, begun = Seed(number), random.Random(number), time.monotonic()
        stored, answered = self.at.stored()[0], self._answered()
        drops = [f"seed{number}/d{index}" for index in range(DROPS)]
        for drop in drops:
            self.at.drop(drop, drop_of(TRAJECTORIES, drop))
        for _ in range(kills):
            self._wait(drops, lambda: bool(self._at_work(drops)) or self._all_ended(drops))
            self._wait(drops, _after(chance.uniform(0, 15)))
            self._kill(chance, drops, result)
        self._wait(drops, lambda: self._all_ended(drops))
        lost = [drop for drop in drops if not self._succeeded(drop)]
        if lost:
            result.started_by_hand = len(lost)
            begun = len(self._runs(drops))
            self._start(lost)
            self._wait(drops, lambda: len(self._runs(drops)) >= begun + len(lost) and self._all_ended(drops))
        result.seconds = time.monotonic() - begun
        result.runs.update(run.status.value for run in self._runs(drops))
        self._check(result, drops, stored, answered)
        return result

    def _kill(self, chance: random.Random, drops: Sequence[str], result: Seed) -> None:
        kind = chance.choice(KINDS)
        at_work = self._at_work(drops)
        if kind == "run" and not at_work:
            kind = "worker"
        result.kills[kind] += 1
        if kind == "run":
            os.kill(chance.choice(at_work), signal.SIGKILL)
            result.may_be_asked_again += IN_FLIGHT
        elif kind == "worker":
            chance.choice(self.at.workers).kill()
            result.may_be_asked_again += IN_FLIGHT
        elif kind == "redis":
            self.at.redis.kill()
        else:
            self.at.database.kill()
            time.sleep(chance.uniform(0, 5))
            self.at.database.start()
            result.may_be_asked_again += IN_FLIGHT * len(self.at.workers)  # if a run fails, its replies are not stored
            return
        time.sleep(chance.uniform(0, 5))
        self.restart()

    def restart(self) -> None:
        """Start what has ended, as the restart policy of containers does."""
        for service in (self.at.redis, self.at.s3, self.at.code, self.at.daemon, *self.at.workers):
            if service.running.poll() is not None:
                service.start()

    def _start(self, drops: Sequence[str]) -> None:
        command = [
            sys.executable,
            "-m",
            "dagster",
            "job",
            "backfill",
            "--workspace",
            str(self.at.folder / "workspace.yaml"),
        ]
        command += ["-j", "evaluate", "--partitions", ",".join(drops), "--noprompt"]
        subprocess.run(command, env=self.at.environment, cwd=self.at.folder, check=True, capture_output=True)

    def _wait(self, drops: Sequence[str], until: Callable[[], bool]) -> None:
        end = time.monotonic() + _MOST_SECONDS
        while not until():
            self.restart()
            time.sleep(_POLL_SECONDS)
            if time.monotonic() > end:
                statuses = [(run.tags.get("dagster/partition"), run.status.value) for run in self._runs(drops)]
                raise TimeoutError(f"not within {_MOST_SECONDS:.0f} s: {statuses}")

    def _runs(self, drops: Sequence[str]) -> list[dg.DagsterRun]:
        filters = [dg.RunsFilter(tags={"dagster/partition": drop}) for drop in drops]
        return [run for each in filters for run in self.instance.get_runs(each)]

    def _at_work(self, drops: Sequence[str]) -> list[int]:
        """The processes that evaluate these drops now."""
        started = [run for run in self._runs(drops) if run.status == dg.DagsterRunStatus.STARTED]
        hearts = [heartbeat_of(self.instance, run.run_id) for run in started]
        return [
            heart.process.pid for heart in hearts if heart is not None and Path(f"/proc/{heart.process.pid}").exists()
        ]

    def _all_ended(self, drops: Sequence[str]) -> bool:
        """Whether each drop has a run, all runs have ended, and none that failed is about to be retried."""
        runs = self._runs(drops)
        begun = {run.tags["dagster/partition"] for run in runs}
        retried = {run.parent_run_id for run in runs}
        # Dagster writes the tag after the run has failed.
        failed = [run for run in runs if run.status == dg.DagsterRunStatus.FAILURE and run.run_id not in retried]
        due = [run for run in failed if run.tags.get("dagster/will_retry") != "false"]
        return begun == set(drops) and all(run.is_finished for run in runs) and not due

    def _succeeded(self, drop: str) -> bool:
        return any(run.status == dg.DagsterRunStatus.SUCCESS for run in self._runs([drop]))

    def _answered(self) -> int:
        return sum(asked.status == 200 for asked in self.server.requests(bodies=False))

    def _check(self, result: Seed, drops: Sequence[str], stored: int, answered: int) -> None:
        replies, questions = self.at.stored()
        result.questions = replies - stored
        result.asked_again = self._answered() - answered - result.questions
        if replies != questions:
            result.wrong.append(f"{replies - questions} questions have two replies in the ledger")
        if not 0 <= result.asked_again <= result.may_be_asked_again:
            result.wrong.append("questions were asked again that were not in flight at a kill")
        if lost := [drop for drop in drops if not self._succeeded(drop)]:
            result.wrong.append(f"not evaluated: {', '.join(lost)}")
        for drop in drops:
            for level, count in SUBJECTS.items():
                rows = list(self.at.home.table(drop, f"{level}_verdicts", "one").rows())
                subjects = {(row["trajectory_id"], row.get("clip_index"), row.get("subject")) for row in rows}
                outcomes = Counter(row["outcome"] for row in rows)
                known = sum(outcomes[name] for name in ("scored", "abstained", "failed", "not_run"))
                if not len(rows) == len(subjects) == known == count * TRAJECTORIES:
                    expected = count * TRAJECTORIES
                    result.wrong.append(f"{drop}: {expected} {level} subjects, {len(rows)} verdicts {dict(outcomes)}")
                result.outcomes += outcomes
                result.errors.update(f"{row['outcome']} ({row['error_kind']})" for row in rows if row["error_kind"])


def _after(seconds: float) -> Callable[[], bool]:
    end = time.monotonic() + seconds
    return lambda: time.monotonic() >= end


def main() -> None:
    arguments = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    arguments.add_argument("--seeds", type=int, default=20, help="how many seeds")
    arguments.add_argument("--first", type=int, default=1, help="the first seed")
    arguments.add_argument("--kills", type=int, default=2, help="kills per seed")
    arguments.add_argument(
        "--hosts",
        action="store_true",
        help="give each worker a host name of its own: dead processes are noticed by missing heartbeats only",
    )
    given = arguments.parse_args()
    seeds: list[Seed] = []
    with (
        model_server(latency=0.5) as server,
        machines({"judges": [judge(server, max_concurrency=IN_FLIGHT)]}) as at,
        at.instance() as instance,
    ):
        for host in ("one", "two"):
            at.add_worker(host=host if given.hosts else None)
        killing = Killing(at, instance, server)
        for number in range(given.first, given.first + given.seeds):
            seeds.append(killing.seed(number, given.kills))
            print(seeds[-1], flush=True)
    wrong = sum(bool(seed.wrong) for seed in seeds)
    kills = sum((seed.kills for seed in seeds), Counter[str]())
    print(f"{len(seeds)} seeds, {kills.total()} kills {dict(kills)}: {wrong} seeds with something wrong")
    print(f"questions {sum(s.questions for s in seeds)}, asked again {sum(s.asked_again for s in seeds)}")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
