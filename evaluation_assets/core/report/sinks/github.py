"""GitHub: the gate's verdict on a commit, and one comment on the pull request, which is updated in place.

The comment is found by a hidden marker with the drop, so that several agents of a suite have a comment each, and the
next commit updates it also where drops are named by commit or date.
"""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

from evaluation_assets.core.report.sinks.http import Http, SendError
from evaluation_assets.core.report.sinks.settings import GithubSinkSettings
from evaluation_assets.core.report.sinks.sink import UNEXPECTED, UNEXPECTED_REPLY, Delivery, DropOutcome
from evaluation_assets.core.text.excerpts import beginning
from evaluation_assets.core.traces.trajectories.identity import digest
from evaluation_assets.core.traces.trajectories.model import JsonObject

_REPOSITORY = re.compile(r"\w[\w.-]*/\w[\w.-]*")
_SHA = re.compile(r"[0-9a-f]{40}")
_PULL = re.compile(r"refs/pull/(\d+)/")
_COMMIT = re.compile(r"[._-]?(?<![a-z0-9])(?=[a-f]*[0-9])(?=[0-9]*[a-f])[0-9a-f]{7,40}(?![a-z0-9])")
_BUILD = re.compile(r"\d+|\d{4}-?\d\d-?\d\d([T _-]?\d\d[.:-]?\d\d.*)?")
"""A date, or a number that counts builds, as a whole part: models have dates within their names."""
_LONGEST_SENTENCE = 140
_LONGEST_TEXT = 60_000
_PAGE = 100
_COMMENT_PAGES = 30

_CONCLUSIONS = {"pass": "success", "warn": "neutral", "fail": "failure"}


@dataclass(frozen=True, slots=True)
class Target:
    """A commit in a repository, and its pull request if there is one."""

    repository: str
    sha: str | None
    pull: int | None

    @classmethod
    def of(cls, labels: Mapping[str, Any], environment: Mapping[str, str]) -> Self:
        """The target that the labels of a drop name, else the environment of GitHub Actions.

        Raises:
            ValueError: no repository is named, or neither a commit nor a pull request.
        """
        repository = str(labels.get("github_repository") or environment.get("GITHUB_REPOSITORY") or "")
        if not _REPOSITORY.fullmatch(repository):
            raise ValueError(
                "no repository: set GITHUB_REPOSITORY (owner/name), or github_repository in the drop's labels"
            )
        sha = str(labels.get("github_sha") or environment.get("GITHUB_SHA") or "")
        said = re.fullmatch(r"\d+", str(labels.get("github_pr") or "")) or _PULL.match(
            environment.get("GITHUB_REF", "")
        )
        number = None if said is None else int(said[said.lastindex or 0])
        if not _SHA.fullmatch(sha) and number is None:
            raise ValueError("no commit or pull request: set GITHUB_SHA, or the label github_sha or github_pr")
        return cls(repository, sha if _SHA.fullmatch(sha) else None, number)


class GithubSink:
    """The commits and pull requests of a repository."""

    def __init__(self, http: Http, settings: GithubSinkSettings) -> None:
        self._http, self._settings = http, settings

    def tell(self, outcome: DropOutcome) -> Delivery:
        """Mark the commit and write the comment."""
        try:
            target = Target.of(outcome.labels, os.environ)
        except ValueError as problem:
            return Delivery(outcome, "failed", str(problem))
        try:
            name = f"evaluation {_series(outcome)}"
            done: list[str] = []
            if target.sha is not None and self._settings.status != "none":
                mark = self._check_run if self._settings.status == "check_run" else self._commit_status
                done.append(mark(target.repository, target.sha, name, outcome))
            if target.pull is not None and self._settings.comment:
                done.append(self._comment(target.repository, target.pull, outcome))
        except SendError as problem:
            return Delivery(outcome, "failed", str(problem))
        except UNEXPECTED:
            return Delivery(outcome, "failed", UNEXPECTED_REPLY)
        return Delivery(outcome, "delivered", remote_id=" ".join(done))

    def _check_run(self, repository: str, sha: str, name: str, outcome: DropOutcome) -> str:
        """Update the check run of this name and drop on the commit, or create it."""

        def find() -> JsonObject | None:
            asked = {"check_name": name, "per_page": _PAGE, "filter": "all"}
            answer = self._http.get(f"/repos/{repository}/commits/{sha}/check-runs", asked)
            return next((run for run in answer["check_runs"] if run.get("external_id") == outcome.id), None)

        content = {
            "name": name,
            "external_id": outcome.id,
            "status": "completed",
            "conclusion": _conclusion(outcome),
            "output": {
                "title": beginning(outcome.sentence, _LONGEST_SENTENCE),
                "summary": beginning(outcome.markdown, _LONGEST_TEXT),
            },
        }
        runs, own = f"/repos/{repository}/check-runs", find()
        if own is None:
            own = self._http.create(runs, {**content, "head_sha": sha}, find)
        else:
            self._http.request("PATCH", f"{runs}/{own['id']}", content)
        return f"check_run/{own['id']}"

    def _commit_status(self, repository: str, sha: str, name: str, outcome: DropOutcome) -> str:
        """Set the status of the commit. The latest of a context counts."""
        content = {
            "state": "failure" if _conclusion(outcome) == "failure" else "success",
            "context": name,
            "description": beginning(outcome.sentence, _LONGEST_SENTENCE),
        }
        return f"status/{self._http.post(f'/repos/{repository}/statuses/{sha}', content)['id']}"

    def _comment(self, repository: str, pull: int, outcome: DropOutcome) -> str:
        """Update the comment with the marker of the drop, or create it."""
        marker = f"<!-- evaluation_assets {digest(_series(outcome))} -->"
        comments = f"/repos/{repository}/issues/{pull}/comments"
        body = {"body": f"{marker}\n{beginning(outcome.markdown, _LONGEST_TEXT)}"}

        def find() -> JsonObject | None:
            for page in range(1, _COMMENT_PAGES + 1):
                answer = self._http.get(comments, {"per_page": _PAGE, "page": page})
                own = next((each for each in answer if (each.get("body") or "").startswith(marker)), None)
                if own is not None or len(answer) < _PAGE:
                    return own
            return None

        own = find()
        if own is None:
            own = self._http.create(comments, body, find)
        else:
            self._http.request("PATCH", f"/repos/{repository}/issues/comments/{own['id']}", body)
        return f"comment/{own['id']}"


def _series(outcome: DropOutcome) -> str:
    """Suite and name of a drop without commits, dates and builds: those of an agent at other commits have the same."""
    parts = [] if outcome.suite is None else [outcome.suite]
    for part in (outcome.drop if outcome.suite is None else outcome.drop.removeprefix(f"{outcome.suite}/")).split("/"):
        kept = _COMMIT.sub("", part)
        parts += [kept] if kept and not _BUILD.fullmatch(kept) else []
    return "/".join(parts) or outcome.drop


def _conclusion(outcome: DropOutcome) -> str:
    if outcome.blocks:
        return "failure"
    return "neutral" if outcome.verdict is None else _CONCLUSIONS.get(outcome.verdict, "neutral")
