"""Rows on Spark, next to where they lie: the one folder that knows Spark, loaded where it is asked for alone."""

from sfumato.data.spark.engine import SparkEngine
from sfumato.data.spark.far import read_on_spark
from sfumato.data.spark.rows import SparkRows, open_rows
from sfumato.data.spark.session import start

__all__ = ["SparkEngine", "SparkRows", "open_rows", "read_on_spark", "start"]
