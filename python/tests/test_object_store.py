"""Shards in an object store: moto, a server with Amazon's interface in a process of its own."""

from __future__ import annotations

import io
import json
import os
import pathlib
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from typing import Any

import boto3
import botocore.exceptions
import polars
import pytest

import thalweg

# The libraries warn of what they do among themselves.
pytestmark = pytest.mark.filterwarnings("default")

SWEEP = {
    "duration": "1 s",
    "path": {"rate": "10 Mbps", "rtt": "20 ms", "buffer": "1 bdp"},
    "compare": {"controllers": ["cubic", "reno"]},
    "sweep": {"seed": [1, 2, 3]},
}
"""6 runs."""


class Server:
    """A store with an empty bucket called `bucket`."""

    def __init__(self, **env: str) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        command = [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)]
        self.process = subprocess.Popen(command, env={**os.environ, **env}, stderr=subprocess.DEVNULL)
        self.env = {
            "AWS_ENDPOINT_URL": f"http://127.0.0.1:{port}",
            "AWS_REGION": "us-east-1",
            "AWS_ACCESS_KEY_ID": "someone",
            "AWS_SECRET_ACCESS_KEY": "secret",
        }
        self.client: Any = boto3.client(
            "s3",
            endpoint_url=self.env["AWS_ENDPOINT_URL"],
            region_name="us-east-1",
            aws_access_key_id="someone",
            aws_secret_access_key="secret",
            config=boto3.session.Config(retries={"max_attempts": 0}),
        )
        end = time.monotonic() + 60
        while True:
            try:
                self.client.create_bucket(Bucket="bucket")
                return
            except botocore.exceptions.EndpointConnectionError:
                assert time.monotonic() < end and self.process.poll() is None
                time.sleep(0.1)

    def names(self, prefix: str) -> list[str]:
        """The names of the objects below `prefix/`, without the hash of the plan."""
        listed = self.client.list_objects_v2(Bucket="bucket", Prefix=f"{prefix}/").get("Contents", [])
        return sorted(it["Key"].removeprefix(f"{prefix}/").split(".")[0] for it in listed)

    def stop(self) -> None:
        self.process.kill()
        self.process.wait()


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    server = Server()
    yield server
    server.stop()


@pytest.fixture
def scenario(tmp_path: pathlib.Path) -> pathlib.Path:
    file = tmp_path / "sweep.toml"
    tables = {key: value for key, value in SWEEP.items() if key != "duration"}
    lines = [f"{key}.{name} = {json.dumps(value)}" for key, of in tables.items() for name, value in dict(of).items()]
    file.write_text("\n".join(['duration = "1 s"', *lines]))
    return file


def call(env: dict[str, str], *arguments: str | pathlib.Path) -> tuple[int, str]:
    """The exit code and the standard error of the command line. Nothing is written to standard output."""
    command = [sys.executable, "-m", "thalweg", *map(str, arguments)]
    clean = {name: value for name, value in os.environ.items() if not name.startswith("AWS_")}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env={**clean, **env})
    assert done.stdout == ""
    return done.returncode, done.stderr


def whole() -> polars.DataFrame:
    """The metrics of one call of `run`."""
    return polars.DataFrame(thalweg.run(SWEEP).summary).drop("wall_s")


def test_shards_are_put_and_merged(server: Server, scenario: pathlib.Path) -> None:
    out = "s3://bucket/results/one"
    make = ["run", scenario, "--out", out, "--shard"]
    for shard in ("3/3", "1/3"):
        code, said = call(server.env, *make, shard)
        assert code == 0 and said.startswith(f"shard {shard}: {out}/shard-") and said.count("\n") == 1, said
    assert server.names("results/one") == ["shard-1-of-3", "shard-3-of-3"]
    missing = f"{out}: these of 3 shards are missing: 2; run them with --shard, and merge again\n"
    assert call(server.env, "merge", out) == (1, missing)
    assert call(server.env, *make, "2/3")[0] == 0
    code, said = call(server.env, *make, "2/3")
    assert code == 0 and said.endswith(".parquet is there; nothing to do\n"), said
    # The slash at the end of an address says nothing.
    assert call(server.env, "merge", f"{out}/") == (0, f"summary: {out}/summary.parquet\n")
    merged = server.client.get_object(Bucket="bucket", Key="results/one/summary.parquet")["Body"].read()
    assert polars.read_parquet(io.BytesIO(merged)).equals(whole())
    code, said = call(server.env, *make, "1/2")
    assert code == 2 and said.startswith(f"--out {out}: holds shard-1-of-3.") and said.count("\n") == 1, said


def test_time_series_are_put_and_merged(server: Server, scenario: pathlib.Path, tmp_path: pathlib.Path) -> None:
    out = "s3://bucket/with-series"
    for shard in ("2/2", "1/2"):
        assert call(server.env, "run", scenario, "--out", out, "--series", "--shard", shard)[0] == 0
    assert len(server.names("with-series")) == 6
    names = ("summary", "flows", "links")
    assert call(server.env, "merge", out) == (0, "".join(f"{name}: {out}/{name}.parquet\n" for name in names))
    thalweg.run(scenario).report(tmp_path / "whole")
    for name in names[1:]:
        merged = server.client.get_object(Bucket="bucket", Key=f"with-series/{name}.parquet")["Body"].read()
        assert merged == (tmp_path / "whole" / f"{name}.parquet").read_bytes()


def test_a_sweep_in_python_uses_it(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in server.env.items():
        monkeypatch.setenv(name, value)
    for _ in range(2):
        assert polars.DataFrame(thalweg.sweep(SWEEP, shards=2, out="s3://bucket")).equals(whole())
    there = server.client.list_objects_v2(Bucket="bucket")["Contents"]
    assert {"shard-1-of-2", "shard-2-of-2"} <= {it["Key"].split(".")[0] for it in there}


def test_mistakes_are_answered_in_a_line(server: Server, scenario: pathlib.Path) -> None:
    def said(code: int, out: str, *rest: str, **env: str) -> str:
        done, line = call({**server.env, **env}, "run", scenario, "--out", out, *rest)
        assert done == code and line.count("\n") == 1 and line.startswith(f"--out {out}" if code == 2 else out), line
        return line

    shard = "--shard=1/2"
    assert "there is no such bucket; make it, or name another" in said(2, "s3://nothing/there", shard)
    assert "reports go into folders; name one, or add --shard 1/1" in said(2, "s3://bucket/there")
    assert "names no bucket; write s3://BUCKET/PREFIX" in said(2, "s3:///there", shard)
    assert "check AWS_ENDPOINT_URL" in said(1, "s3://bucket/a", shard, AWS_ENDPOINT_URL="http://127.0.0.1:9")
    assert "write one like https://" in said(2, "s3://bucket/a", shard, AWS_ENDPOINT_URL="store")
    assert "AWS_REGION has a character" in said(2, "s3://bucket/a", shard, AWS_REGION="us east")
    assert "AWS_ACCESS_KEY_ID has a character" in said(2, "s3://bucket/a", shard, AWS_ACCESS_KEY_ID="some\none")
    assert "names no bucket" in said(2, "s3://buc ket/a", shard)
    assert "is no address" in said(2, "s3://bucket/a//b", shard)
    assert call(server.env, "merge", "s3://bucket/nothing")[0] == 2


def test_keys_that_are_refused_are_told(scenario: pathlib.Path) -> None:
    strict = Server(INITIAL_NO_AUTH_ACTION_COUNT="1")  # the bucket
    try:
        code, said = call(strict.env, "run", scenario, "--out", "s3://bucket/a", "--shard", "1/2")
    finally:
        strict.stop()
    assert code == 2 and "the store refuses it" in said and "check AWS_ACCESS_KEY_ID" in said, said
    assert said.count("\n") == 1
