"""The reference of the tables describes each column once."""

from evaluation_assets.core.lake.tables import Column, Table
from evaluation_assets.core.lake.tables.documentation import page
from evaluation_assets.core.lake.tables.model import FLOAT, NAME

DROP = Column("drop", NAME, "Key of the drop.")
LOW, HIGH = (Column(f"mean_{end.lower()}er", FLOAT, f"{end}er end of the interval.") for end in ("Low", "Upp"))


def of(name: str, *tables: Table) -> str:
    return page(tables).partition(f"## {name}\n\n")[2].partition("\n#")[0].rstrip("\n")


def test_a_column_of_three_tables_is_described_before_all() -> None:
    tables = [Table(name, f"a {name}", (DROP, Column(name, NAME, f"Of {name}."))) for name in "abc"]
    assert of("Shared columns", *tables) == "- `drop` (`string`): Key of the drop."
    assert of("b", *tables) == "Each row is a b.\n\n- [Shared columns](#shared-columns): all\n- `b` (`string`): Of b."


def test_a_column_of_two_tables_is_described_with_the_first() -> None:
    first, other = Column("x", NAME, "The first."), Column("y", NAME, "The other.")
    tables = Table("one", "an item", (first, other)), Table("two", "an item", (first, Column("y", NAME, "Different.")))
    assert of("two", *tables) == "Each row is an item.\n\n- [one](#one): x\n- `y` (`string`): Different."


def test_the_two_ends_of_an_interval_are_one_entry() -> None:
    table = Table("one", "an item", (LOW, HIGH, DROP), whole=True)
    assert of("one", table) == (
        "Each row is an item. One file over all drops: `lake/one.parquet`.\n\n"
        "- `mean_lower`, `mean_upper` (`double`): Ends of the interval.\n- `drop` (`string`): Key of the drop."
    )
