"""People, not rows: which rows of a person are used."""

import polars as pl


def keep_rows_of_people(
    codes: pl.DataFrame, kept: pl.DataFrame, people: pl.Series, limit: int, *, secret: str
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """At most `limit` rows of each person, as codes and kept columns; rows of nobody (null) are left out.

    The rows of a person stand in the order of a hash of the person and of all columns but the `secret` one; rows that
    agree in these, in that of a hash of the whole row and of how many equal ones of that person came before. The first
    ones are kept. Which these are follows from that person's own rows alone, so a person more or less changes no row of
    anybody else, and at most `limit` rows in all: what holds for a group of `limit` rows holds for a person. Where
    nothing but the secret is hidden, another secret changes nothing else of the row that is kept. The first row of each
    person is among the first two, and so on.

    Rows without a person cannot be kept: taken as one person's, somebody more among them would change which of the
    others' is used; taken as a person each, somebody with many of them would count as many people.
    """
    rows = pl.DataFrame([*codes, *kept])
    listed = pl.DataFrame({"person": people, "open": rows.drop(secret).hash_rows(), "row": rows.hash_rows()})
    listed = listed.with_row_index("place").drop_nulls("person").filter(pl.len().over("person") > limit)
    listed = listed.with_columns(again=pl.int_range(pl.len()).over("person", "row"))
    listed = listed.with_columns(
        first=listed.select("person", "open").hash_rows(), then=listed.select("person", "row", "again").hash_rows()
    ).sort("person", "first", "then")
    beyond = listed.filter(pl.int_range(pl.len()).over("person") >= limit)["place"]
    used = ~pl.int_range(codes.height, dtype=pl.UInt32, eager=True).is_in(beyond.implode()) & people.is_not_null()
    return codes.filter(used), kept.filter(used) if kept.width else kept
