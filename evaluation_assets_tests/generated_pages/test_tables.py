"""The reference of the tables describes each column once."""

from evaluation_assets.core.lake.tables import Column, Table
from evaluation_assets.core.lake.tables.model import FLOAT, NAME
from evaluation_assets_tests.generated_pages.tables import page

DROP = Column("drop", NAME, "Key of the drop.")
MEAN = Column("mean", FLOAT, "Mean over tasks.")
ENDS = tuple(Column(f"ci_{end.lower()}", FLOAT, f"{end}er end of the 95% interval.") for end in ("Low", "Upp"))
ENDS_OF_MEAN = tuple(Column(f"mean_{end}", FLOAT, f"The {end} end.") for end in ("low", "high"))


def of(name: str, *tables: Table) -> str:
    return page(tables).partition(f"## {name}\n\n")[2].partition("\n#")[0].rstrip("\n")


def test_a_column_of_three_tables_is_described_before_all() -> None:
    tables = [Table(name, f"a {name}", (DROP, Column(name, NAME, f"Of {name}."))) for name in "abc"]
    assert of("Shared columns", *tables) == "- `drop`: Key of the drop."
    assert of("b", *tables) == "Each row is a b.\n\n- [Shared columns](#shared-columns): all\n- `b`: Of b."


def test_a_column_of_two_tables_is_described_with_the_first() -> None:
    first, other = Column("x", NAME, "The first."), Column("y", NAME, "The other.")
    tables = Table("one", "an item", (first, other)), Table("two", "an item", (first, Column("y", NAME, "Different.")))
    assert of("two", *tables) == "Each row is an item.\n\n- [one](#one): x\n- `y`: Different."


def test_the_two_ends_of_an_interval_are_one_entry() -> None:
    table = Table("one", "an item", (*ENDS, DROP), whole=True)
    assert of("one", table) == (
        "Each row is an item. One file for all drops.\n\n"
        "- `ci_low`, `ci_upp` (`double`): Ends of the 95% interval.\n- `drop`: Key of the drop."
    )


def test_an_interval_that_is_named_after_a_column_is_part_of_its_entry() -> None:
    table = Table("one", "an item", (MEAN, *ENDS_OF_MEAN))
    assert of("one", table) == (
        "Each row is an item.\n\n- `mean` (`double`), 95% interval `mean_low`, `mean_high`: Mean over tasks."
    )


def test_a_bound_alone_has_an_entry_of_its_own() -> None:
    entries = of("one", Table("one", "an item", (MEAN, ENDS_OF_MEAN[0], DROP))).splitlines()[2:]
    assert [entry.split("`")[1] for entry in entries] == ["mean", "mean_low", "drop"]


def test_a_column_that_is_missing_of_many_is_named() -> None:
    many = tuple(Column(name, NAME, f"Of {name}.") for name in "vwxyz")
    assert of("two", Table("one", "an item", many), Table("two", "an item", many[1:])) == (
        "Each row is an item.\n\n- [one](#one): all but v"
    )
