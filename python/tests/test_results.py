"""Results: tables for other libraries, the report, plots."""

from __future__ import annotations

import json
import pathlib

import duckdb
import matplotlib
import pandas
import polars
import pyarrow
import pyarrow.parquet
import pytest
from conftest import GIGABIT

import thalweg

matplotlib.use("Agg")


def test_a_table_has_columns(gigabit: thalweg.Results) -> None:
    table = gigabit.summary
    assert len(table) == 2 and table["controller"] == ["rapid", "bic"] and "drops" in table
    assert table["throughput_mbps"][0] > 500
    with pytest.raises(KeyError, match="there is no column"):
        table["speed"]
    assert "2 rows" in repr(table)


def test_polars_pyarrow_pandas_and_duckdb_read_tables(gigabit: thalweg.Results) -> None:
    flows = gigabit.flows
    frame = polars.DataFrame(flows)
    assert frame.columns == flows.column_names and frame["time_s"].to_list() == flows["time_s"]
    assert frame.schema["flow"] == polars.Int32 and frame.schema["phase"] == polars.String
    arrow = pyarrow.table(flows)
    assert arrow.schema.field("rtt_ms").type == pyarrow.float64() and arrow.num_rows == len(flows)
    read = pandas.DataFrame.from_arrow(flows) if hasattr(pandas.DataFrame, "from_arrow") else arrow.to_pandas()
    assert read.groupby("run")["throughput_mbps"].max().max() > 900
    rows = duckdb.sql("select count(*), max(time_s) from flows").fetchall()
    assert rows == [(len(flows), max(flows["time_s"]))]
    # It is read any number of times.
    assert polars.DataFrame(flows).equals(frame)


def test_tables_are_those_of_the_parquet_files(gigabit: thalweg.Results, tmp_path: pathlib.Path) -> None:
    gigabit.report(tmp_path / "results")
    for name in ("flows", "links", "transfers", "completion"):
        file = polars.read_parquet(tmp_path / "results" / f"{name}.parquet")
        assert polars.DataFrame(getattr(gigabit, name)).equals(file), name


def test_the_report_is_that_of_the_command_line(gigabit: thalweg.Results, tmp_path: pathlib.Path) -> None:
    folder = tmp_path / "results"
    gigabit.report(folder)
    gigabit.report(str(folder))  # in place of earlier results
    assert (folder / "report.html").stat().st_size > 50_000
    summary = json.loads((folder / "summary.json").read_text())
    assert [run["controller"] for run in summary["runs"]] == ["rapid", "bic"]
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis" / "thesis.tex").touch()
    with pytest.raises(OSError, match="holds no earlier results"):
        gigabit.report(tmp_path / "thesis")


def test_a_sweep_has_its_columns() -> None:
    scenario = json.loads('{"path.rate": ["10 Mbps", "20 Mbps"], "flow[0].count": [1, 2]}')
    results = thalweg.run(GIGABIT, set={"duration": "1 s", "compare.controllers": ["reno"], "sweep": scenario})
    assert results.summary["path.rate"] == ["10 Mbps", "10 Mbps", "20 Mbps", "20 Mbps"]
    assert results.summary["flow[0].count"] == [1, 2, 1, 2]
    assert len(results.to_dict()["runs"]) == 4


def test_transfers_of_traffic(short: thalweg.Scenario) -> None:
    short.traffic = [thalweg.Traffic(kind="flows", size="30 kB", per_second=50, controller="reno")]
    results = thalweg.run(short)
    assert len(results.transfers) > 20 and max(results.transfers["sent_bytes"]) == 30_000


def test_results_show_themselves(gigabit: thalweg.Results) -> None:
    assert repr(gigabit) == "<thalweg.Results: Who acquires a gigabit first?, 2 runs>"
    assert "goodput" in str(gigabit) and "bic" in str(gigabit)
    page = gigabit._repr_html_()
    assert page.count("<tr>") == 3 and "<td>rapid</td>" in page


def test_plots_are_the_figures_of_the_report(gigabit: thalweg.Results, tmp_path: pathlib.Path) -> None:
    figure = gigabit.plot()
    labels = [axes.get_ylabel() for axes in figure.axes]
    assert labels[0] == "Throughput (Mbps)" and "Queue (packets)" in labels
    legend = figure.axes[0].get_legend()
    assert legend is not None and [text.get_text() for text in legend.get_texts()] == ["rapid", "bic"]
    figure.savefig(tmp_path / "all.png")
    assert [axes.get_ylabel() for axes in gigabit.plot("Queue").axes] == ["Queue (packets)"]
    with pytest.raises(ValueError, match="there is no figure of .*; there are: Throughput"):
        gigabit.plot(["Speed"])
    matplotlib.pyplot.close("all")


def test_plots_of_one_run_and_of_many_flows(short: thalweg.Scenario) -> None:
    for count in (1, 3, 20):
        thalweg.run(short, set={"flow[0].count": count}).plot()
    matplotlib.pyplot.close("all")
