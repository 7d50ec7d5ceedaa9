"""What an Inspect AI log states about all of its samples, compared with the samples that were read."""

from dataclasses import dataclass
from typing import Any

from evaluation_assets.core.traces.formats.messages.inspect_messages import usage_in
from evaluation_assets.core.traces.formats.transcript import total
from evaluation_assets.core.traces.formats.unmapped_fields import Fields, UnmappedFields
from evaluation_assets.core.traces.formats.untyped import at, object_in
from evaluation_assets.core.traces.formats.usage import confirm
from evaluation_assets.core.traces.trajectories.model import JsonObject, Usage


@dataclass(slots=True)
class ReadSamples:
    """Samples of a log, those without an error, and the usage of all; unknown after a retry, which is in no sample."""

    samples: int = 0
    completed: int = 0
    usage: Usage | None = None
    is_usage_known: bool = True

    def add(self, sample: Any) -> None:
        """Count a sample, `None` for one that cannot be parsed."""
        used = _usage(at(sample, "model_usage"))
        self.samples += 1
        self.completed += sample is not None and not at(sample, "error")
        self.usage = total((self.usage, used))
        self.is_usage_known = self.is_usage_known and used is not None and not at(sample, "error_retries")


def confirm_log(log: JsonObject, read: ReadSamples, unmapped: UnmappedFields) -> None:
    """Compare the totals of a log with what was read of its samples, and note if the evaluation did not finish."""
    stated, results, about = unmapped.stated, Fields(object_in(log.get("results"))), Fields(object_in(log.get("eval")))
    if isinstance(status := log.get("status"), str) and status != "success":
        unmapped.note("unfinished", status)
    samples = results.whole("total_samples")
    stated.compare("sample", _planned(about) if samples is None else samples, read.samples)
    completed = results.whole("completed_samples")  # some versions count samples that were scored after an error
    known = None if completed is None else min(max(completed, read.completed), read.samples)
    stated.compare("completed sample", completed, known)
    if read.is_usage_known:
        confirm(stated, _usage(object_in(log.get("stats")).get("model_usage")), read.usage)


def _planned(about: Fields) -> int | None:
    """Samples of the dataset in all epochs; unknown where only some of them were to be run."""
    config = about.object("config")
    if "limit" in config or "sample_id" in config:
        return None
    samples = about.object("dataset").whole("samples")
    return None if samples is None else samples * (config.whole("epochs") or 1)


def _usage(models: Any) -> Usage | None:
    return total(usage_in(Fields(used)) for used in object_in(models).values() if isinstance(used, dict))
