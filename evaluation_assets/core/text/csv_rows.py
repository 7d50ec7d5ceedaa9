"""Rows of CSV under a header, as spreadsheets write them."""

import csv
import io


def csv_rows(text: str, delimiter: str | None = None) -> "csv.DictReader[str]":
    """A reader of the rows. Spreadsheets of many countries write semicolons for commas, which the header shows.

    Raises:
        csv.Error: while reading, where a quotation mark is not closed.
    """
    if delimiter is None:
        delimiter = max(",;\t", key=text.partition("\n")[0].count)
    return csv.DictReader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
