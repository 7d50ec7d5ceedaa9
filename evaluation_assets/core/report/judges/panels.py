"""The panels of all drops: effective number of judges and agreement, for the overview."""

from collections.abc import Iterator
from itertools import groupby

from evaluation_assets.core.lake.row import Row
from evaluation_assets.core.system.installation import Installation


def panel_rows(home: Installation) -> Iterator[Row]:
    """One row per drop, level and criterion that several judges scored, from the stored `panel_reliability`.

    `effective_judges` is a lower bound, from the correlation of verdicts; missing in tables of earlier versions.
    """
    for drop in home.drops_with("panel_reliability"):
        rows = home.table(drop, "panel_reliability").rows()
        for (level, criterion), of_criterion in groupby(rows, key=lambda row: (row["level"], row["criterion"])):
            judges = list(of_criterion)
            if len(judges) > 1:
                yield {
                    "drop": drop,
                    "level": level,
                    "criterion": criterion,
                    "n_judges": len(judges),
                    "effective_judges": judges[0].get("effective_judges"),
                    "alpha": judges[0]["alpha"],
                    "n_subjects": judges[0]["n_subjects"],
                }
