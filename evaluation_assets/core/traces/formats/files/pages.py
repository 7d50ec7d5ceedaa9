"""Pages: documents that wrap the records of a file, and say beside them only which page of an answer they are.

    {"data": [{...}, {...}], "meta": {"page": 1, "totalItems": 2}}
    {"hits": {"total": 2, "hits": [{"_id": "7", "_source": {...}}]}}
    {"data": {"runs": {"edges": [{"node": {...}}]}}}

APIs answer so, and people keep the answers. The records are read as if each stood on a line of its own. A document that
says more, such as which model its runs are of, is no page.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import product
from typing import Any

from evaluation_assets.core.traces.formats.base import DropFile, Sample
from evaluation_assets.core.traces.formats.files.records import read_parts
from evaluation_assets.core.traces.formats.run_names import name_several
from evaluation_assets.core.traces.formats.stated import Comparisons
from evaluation_assets.core.traces.formats.untyped import as_number, list_in
from evaluation_assets.core.traces.trajectories.model import JsonObject

_TOTALS = frozenset(
    """
    total totalCount total_count totalElements totalItems total_items totalRecords total_records totalResults
    total_results totalRows total_rows num_rows_total
    """.split()
)
_MORE = frozenset(
    """
    hasMore has_more hasNext has_next hasNextPage has_next_page next nextCursor next_cursor nextPage next_page
    nextPageToken next_page_token nextToken next_token
    """.split()
)
_HOLDERS = ("meta", "pagination", "paging", "pageInfo", "page_info", "page", "cursors", "links", "total")
"""Objects in which a page says what it is; a search says its total in one."""
_PAGING = (
    _TOTALS
    | _MORE
    | frozenset(_HOLDERS)
    | frozenset(
        """
        object url count cursor pages pageSize page_size perPage per_page itemsPerPage size limit offset totalPages
        total_pages firstId first_id lastId last_id first last prev previous prevCursor prev_cursor previousPage
        previous_page hasPrevious hasPreviousPage has_previous startCursor endCursor took timed_out _shards max_score
        relation value parsed_query features num_rows_per_page partial request_id requestId self
        """.split()
    )
)
_OF_A_RECORD = frozenset("_index _id _score _type _ignored sort cursor row_idx truncated_cells".split())
"""What a search, or a page of a table, says of each of its records."""

_WELL = ("ok", "OK", "success", 0, 200)
_DEEPEST = 3


def page_in(sample: Sample) -> tuple[str, Sample] | None:
    """The path at which the records of a file stand, with a sample of them, if the file is a page."""
    first = sample.records[0] if sample.records else None
    if not isinstance(first, dict) or (place := _items_in(first, _DEEPEST)) is None:
        return None
    path, items = place
    if sample.text.lstrip().startswith("["):
        if len(sample.records) > 1:
            return None
        path = f"item.{path}"
    names = {key for item in items for key in item if key not in _OF_A_RECORD}
    is_wrapped = names == {"node"} or any(item.keys() & _OF_A_RECORD for item in items)
    if len(names) == 1 and is_wrapped and "." not in (name := names.pop()):
        path, items = f"{path}.{name}", [item[name] for item in items if isinstance(item.get(name), dict)]
    if not items or (any("role" in item for item in items) and not name_several(items)):  # of one conversation
        return None
    return path, replace(sample, records=tuple(items), text="")


def are_wrapped(path: str) -> bool:
    """Whether each record at the path of a page has a wrapper of its own: none says anything of the runs below."""
    return not path.endswith(".item")


def confirm_pages(stated: Comparisons, files: Sequence[DropFile], read: int) -> None:
    """Compare what pages say with the number of records read of them, and note if the last page is not among them."""
    said = [dict(_said(file)) for file in files]
    totals = {
        number for page in said for key in page.keys() & _TOTALS if (number := as_number(page[key]))
    }  # 0: not counted
    if len(totals) == 1:
        stated.compare("record", totals.pop(), read)
    elif said and all(any(page.get(key) not in (None, False, "", 0) for key in _MORE) for page in said):
        stated.compare("page", len(said) + 1, len(said))


def _said(file: DropFile) -> Iterator[tuple[str, Any]]:
    """What a page says of how many there are, by name; of several in a file, the last."""
    above = file.page.split(".item")[0].split(".")[:-1]
    objects = [".".join(above[:depth]) for depth in range(len(above) + 1)]
    holders = [_path(*each) for each in product(objects, ("", *_HOLDERS))]
    places = {_path(holder, name): name for holder in holders for name in _TOTALS | _MORE}
    places |= {_path(holder, "total.value"): "total" for holder in objects}
    for place, value in read_parts(file.path, file.source, *places):
        yield places[place], value


def _path(holder: str, name: str) -> str:
    return f"{holder}.{name}".strip(".")


def _items_in(data: JsonObject, depth: int) -> tuple[str, list[JsonObject]] | None:
    """The path of the items of the only list in an object beside what it says of its page, and the items."""
    keys = [key for key, value in data.items() if not _is_paging(key, value)]
    if len(keys) != 1 or "." in keys[0]:
        return None
    value = data[keys[0]]
    if isinstance(value, dict) and depth:
        inner = _items_in(value, depth - 1)
        return None if inner is None else (f"{keys[0]}.{inner[0]}", inner[1])
    items = [item for item in list_in(value) if isinstance(item, dict)]
    return (f"{keys[0]}.item", items) if items else None


def _is_paging(key: str, value: Any) -> bool:
    """Whether a field says nothing of the records."""
    if value in (None, "", [], {}) or (key in ("code", "message", "msg", "status") and value in _WELL):
        return True
    return key in _PAGING and not (isinstance(value, dict) and not all(_is_paging(*each) for each in value.items()))
