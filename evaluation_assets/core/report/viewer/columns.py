"""Documents of trajectories column by column: like values stand together, which compresses to half the size."""

from collections.abc import Iterable, Sequence

import orjson

from evaluation_assets.core.traces.trajectories.model import JsonObject

_REPEATED = ("items", "clips", "verdicts")


def in_columns(documents: Sequence[JsonObject]) -> bytes:
    """Documents as JSON; `blocks.js` of the viewer makes documents of it again.

    `about` has what there is once a trajectory, with the numbers of its items, clips and verdicts as `lengths`; a clip
    has the number of its verdicts. Texts of items stand by kind. A text that holds the message of the user before it,
    as the raw text of a turn does, is the two pieces around the message.
    """
    about: list[JsonObject] = []
    items: list[JsonObject] = []
    clips: list[JsonObject] = []
    verdicts: list[JsonObject] = []
    texts: dict[str, list[str | list[str]]] = {}
    for document in documents:
        own = {name: value for name, value in document.items() if name not in _REPEATED}
        about.append({**own, "lengths": [len(document[name]) for name in _REPEATED]})
        said: str | None = None
        for item in document["items"]:
            kind, text = item["kind"], item["text"]
            if kind == "user":
                said = text
            pieces = text.partition(said) if kind == "text" and said else None
            if pieces is not None and pieces[1]:
                said = None
                texts.setdefault(kind, []).append([pieces[0], pieces[2]])
            else:
                texts.setdefault(kind, []).append(text)
            items.append({name: value for name, value in item.items() if name != "text"})
        for clip in document["clips"]:
            clips.append(
                {
                    **{name: value for name, value in clip.items() if name != "verdicts"},
                    "verdicts": len(clip["verdicts"]),
                }
            )
            verdicts += clip["verdicts"]
        verdicts += document["verdicts"]
    return orjson.dumps(
        {
            "about": about,
            "items": _columns(items),
            "clips": _columns(clips),
            "verdicts": _columns(verdicts),
            "texts": texts,
        }
    )


def _columns(rows: Sequence[JsonObject]) -> dict[str, list[object]]:
    """Rows as columns; what a row lacks is null."""
    names: Iterable[str] = dict.fromkeys(name for row in rows for name in row)
    return {name: [row.get(name) for row in rows] for name in names}
