"""Masks keys in what commands print or export of prompts and replies."""

import os

from evaluation_assets.core.judging.panel import load_panel
from evaluation_assets.core.models.providers.capabilities import PROVIDERS
from evaluation_assets.core.system.installation import Installation
from evaluation_assets.core.text.masking import Mask


def mask_of_keys(home: Installation) -> Mask:
    """Masks the keys of all providers, and those that the panel names."""
    names = [name for known in PROVIDERS.values() for name in (known.key_env, known.other_key_env)]
    names += [judge.api_key_env for judge in load_panel(home.panel_file).judges]
    return Mask(os.environ.get(name, "") for name in names if name)
