"""People, not rows: which rows of a person are used."""

import polars as pl


def keep_rows_of_people(
    codes: pl.DataFrame, kept: pl.DataFrame, people: pl.Series, limit: int
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """At most `limit` rows of each person, as codes and kept columns; rows of nobody (null) are left out.

    The rows of a person stand in the order of a hash of the person, the row, and how many equal rows of that person
    came before; the first ones are kept. Which these are follows from that person's own rows alone, so a person more or
    less changes no row of anybody else, and at most `limit` rows in all: what holds for a group of `limit` rows holds
    for a person. The first row of each person is among the first two, and so on.

    Rows without a person cannot be kept: taken as one person's, somebody more among them would change which of the
    others' is used; taken as a person each, somebody with many of them would count as many people.
    """
    rows = pl.DataFrame([*codes, *kept]).hash_rows()
    listed = pl.DataFrame({"person": people, "row": rows}).with_row_index("place").drop_nulls("person")
    listed = listed.filter(pl.len().over("person") > limit)
    listed = listed.with_columns(again=pl.int_range(pl.len()).over("person", "row"))
    listed = listed.with_columns(rank=listed.select("person", "row", "again").hash_rows()).sort("person", "rank")
    beyond = listed.filter(pl.int_range(pl.len()).over("person") >= limit)["place"]
    used = ~pl.int_range(codes.height, dtype=pl.UInt32, eager=True).is_in(beyond.implode()) & people.is_not_null()
    return codes.filter(used), kept.filter(used) if kept.width else kept
