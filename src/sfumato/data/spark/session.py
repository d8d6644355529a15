"""Spark itself: starting it quietly, and what it cannot do in a sentence."""

import logging
import os
import re
import signal
import sys
import threading
import warnings
import weakref
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException, PySparkRuntimeError
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as sql

from sfumato.data.formats import MAX_REASON
from sfumato.errors import DataError, ParameterError, shorten

FAILED = (PySparkException, Py4JError)
LOGGERS = ("py4j", "SQLQueryContextLogger", "DataFrameQueryContextLogger")
"""They would tell standard error what is told in a sentence, or values of people."""
WORDLESS = re.compile(r"^\s*[\w.$]+(?:Exception|Error): |\[[A-Z_.]+\] | ?SQLSTATE: \w+$")
"""What stands around a sentence of Spark's."""
SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.caseSensitive": "true",
    "spark.sql.session.timeZone": "UTC",
}


def start(master: str | None = None) -> SparkSession:
    """The session of this process, started quietly if there is none."""
    if (session := SparkSession.getActiveSession()) is not None:
        return session
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = SparkSession.builder.appName("sfumato")
    for name, setting in SETTINGS.items():
        builder = builder.config(name, setting)
    for name in LOGGERS:
        logging.getLogger(name).setLevel(logging.CRITICAL)
    try:
        with _quiet(), _own_interrupts():
            return (builder.master(master) if master else builder).getOrCreate()
    except (PySparkRuntimeError, OSError) as error:
        raise ParameterError(
            "Spark does not start; it needs Java 17 or newer, found as java or through JAVA_HOME"
        ) from error
    except FAILED as error:
        raise ParameterError(f"Spark does not start at {master or 'its own master'} ({reason(error)})") from error


@contextmanager
def _own_interrupts() -> Iterator[None]:
    """Spark takes interrupts for itself when it starts; afterwards they are what they were before."""
    before = signal.getsignal(signal.SIGINT)
    try:
        yield
    finally:
        if before is not None and threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGINT, before)


@contextmanager
def _quiet() -> Iterator[None]:
    """What Java writes to standard error from its start to its end, which is no sentence for users, goes nowhere."""
    sys.stderr.flush()
    kept, nowhere = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, 2)
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(nowhere)


@contextmanager
def refusing(where: str) -> Iterator[None]:
    """What Spark cannot do with rows, in a sentence."""
    try:
        yield
    except FAILED as error:
        raise DataError(f"{where}: cannot be read as a table ({reason(error)})") from error


def reason(error: Exception) -> str:
    """The first line of what Spark says, of the innermost cause that says something, in words alone."""
    told = [line.strip() for line in str(error).splitlines() if line.strip()] or [type(error).__name__]
    causes = [line.removeprefix("Caused by:") for line in told if line.startswith("Caused by:")]
    words = WORDLESS.sub("", [told[0], *causes][-1]).strip()
    return shorten(words, MAX_REASON)


def named(name: str) -> Column:
    """A column, whatever signs are in its name."""
    return sql.col(f"`{name.replace('`', '``')}`")


@contextmanager
def held(frame: DataFrame) -> Iterator[DataFrame]:
    """Rows that are gone through several times, kept where Spark keeps such."""
    held = frame.persist()
    try:
        yield held
    finally:
        _let_go(held)


def held_with(owner: object, frame: DataFrame) -> DataFrame:
    """The same as long as there is somebody to ask for them."""
    held = frame.persist()
    weakref.finalize(owner, _let_go, held).atexit = False
    return held


def _let_go(held: DataFrame) -> None:
    with suppress(*FAILED):
        held.unpersist()


@contextmanager
def whatever_pandas() -> Iterator[None]:
    """Spark warns of a pandas that is newer than it knows, also where it uses none."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        yield
