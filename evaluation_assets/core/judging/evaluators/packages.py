"""The packages whose metrics can be judges: what they are called, and which extra installs them."""

from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version

from evaluation_assets.core.judging.evaluators.settings import Package
from evaluation_assets.core.system.commands import installing
from evaluation_assets.core.text.user_error import UserError


class InvalidEvaluator(UserError, ValueError):
    """An evaluator that cannot be used; the message names it and says what to change."""


@dataclass(frozen=True, slots=True)
class _Installed:
    distribution: str
    extra: str


PACKAGES: Mapping[Package, _Installed] = {
    "autoevals": _Installed("autoevals", "autoevals"),
    "openevals": _Installed("openevals", "openevals"),
    "agentevals": _Installed("agentevals", "openevals"),
    "deepeval": _Installed("deepeval", "deepeval"),
    "inspect": _Installed("inspect_ai", "inspect"),
    "mlflow": _Installed("mlflow-skinny", "mlflow"),
}


def installed_version(package: Package) -> str:
    """The version of an installed package.

    Raises:
        InvalidEvaluator: it is not installed.
    """
    known = PACKAGES[package]
    try:
        return version(known.distribution)
    except PackageNotFoundError:
        raise InvalidEvaluator(
            f"the package {known.distribution} is not installed; install it with: {installing(known.extra)}"
        ) from None
