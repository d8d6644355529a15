"""An executor that dies in the middle of a publication changes nothing of it, and no noise is drawn twice."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from engines import QUICK, java

SCRIPT = Path(__file__).with_name("lost_executors.py")
FAILING = "local[2,4]"
CLUSTER = "local-cluster[2,1,1024]"
"""Executors that are killed and started anew take a minute of both cores: `make kills` does that."""


@pytest.mark.spark
@pytest.mark.parametrize("master", [FAILING, CLUSTER])
def test_executors_that_are_lost_change_no_release(master: str, tmp_path: Path) -> None:
    if reason := java():
        pytest.skip(reason)
    if master == CLUSTER and "SFUMATO_KILLS" not in os.environ:
        pytest.skip("make kills runs this")
    import pyspark

    path = os.pathsep.join(map(str, [SCRIPT.parent, *sys.path]))
    settings = {"ui.enabled": "false", "driver.bindAddress": "127.0.0.1", "driver.host": "127.0.0.1"}
    settings |= {"executorEnv.PYTHONPATH": path, "sql.shuffle.partitions": "2"}
    submitted = " ".join(f"--conf spark.{name}={setting}" for name, setting in settings.items())
    environment = {
        **os.environ,
        "PYTHONPATH": path,
        "SPARK_HOME": str(Path(pyspark.__file__).parent),
        "JDK_JAVA_OPTIONS": QUICK,
        "PYSPARK_SUBMIT_ARGS": f"{submitted} pyspark-shell",
    }
    command = [sys.executable, str(SCRIPT), str(tmp_path), master]
    told = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert told.returncode == 0, told.stderr[-3000:]
