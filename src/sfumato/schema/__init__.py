"""Axes, taxonomies and roles: the only place that knows labels."""

from sfumato.schema.axis import MISSING, UNKNOWN, Axis, Span
from sfumato.schema.boolean import BooleanAxis
from sfumato.schema.categorical import CategoricalAxis
from sfumato.schema.code import CodeAxis
from sfumato.schema.column import Column, Role
from sfumato.schema.dates import DateAxis
from sfumato.schema.numeric import NumericAxis
from sfumato.schema.schema import Schema
from sfumato.schema.taxonomy import Node

__all__ = [
    "MISSING",
    "UNKNOWN",
    "Axis",
    "BooleanAxis",
    "CategoricalAxis",
    "CodeAxis",
    "Column",
    "DateAxis",
    "Node",
    "NumericAxis",
    "Role",
    "Schema",
    "Span",
]
