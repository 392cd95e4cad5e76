"""Recording and reading back on a real platform, which RECREDIT_TEST_URL and RECREDIT_TEST_KEY name."""

from __future__ import annotations

import contextlib
import importlib.util
import io
import math
import os
import sys
import tempfile
import time
import unittest
import uuid
import warnings
from pathlib import Path
from typing import Any
from unittest import mock

import recredit
from recredit.frame import Frame
from recredit.progress import ProgressLine

URL, KEY = os.environ.get("RECREDIT_TEST_URL"), os.environ.get("RECREDIT_TEST_KEY")
ROLLOUTS: list[dict[str, Any]] = [
    {"group": "cool-mug", "outcome_reward": 1.0, "turns": [{"action": "open fridge"}, {"action": "cool"}]},
    {"group": "cool-mug", "outcome_reward": 0.0, "turns": [{"action": "look"}]},
]


@unittest.skipUnless(URL and KEY, "no platform is named by RECREDIT_TEST_URL and RECREDIT_TEST_KEY")
class OnAPlatform(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.client = recredit.Client(URL, KEY)
        self.name = f"run-{uuid.uuid4()}"

    def recorded(self) -> recredit.StoredRun:
        """Two training steps of one group, with the advantages that a trainer would have used."""
        with recredit.start_run(
            project="python", name=self.name, config={"lr": 1e-6}, url=URL, api_key=KEY, spool=self.folder
        ) as run:
            for step in range(2):
                for number, rollout in enumerate(ROLLOUTS):
                    trajectory = run.trajectory(group=rollout["group"], training_step=step, id=f"{step}-{number}")
                    for turn in rollout["turns"]:
                        trajectory.turn("You are in the kitchen.", reward=0, tokens={"logprob": [-0.5, -0.25]}, **turn)
                    trajectory.end(rollout["outcome_reward"], success=rollout["outcome_reward"] > 0)
                run.log_advantages({f"{step}-0": 0.5, f"{step}-1": [-0.5]})
                run.training_step(step, {"loss": 1 / (step + 1)})
        report = run.report()
        self.assertEqual((report.sent, report.unsent, report.dropped), (17, 0, 0), report)
        return self.client.run(report.run or "").wait(report.position or 0)

    def test_what_is_recorded_is_read_back_with_its_credit(self) -> None:
        run = self.recorded()
        self.assertEqual((run.name, run.project, run.state, run.config), (self.name, "python", "completed", {"lr": 1e-6}))
        self.assertEqual((run.progress["finishedCount"], run.progress["turnCount"]), (4, 6))
        self.assertEqual(self.client.run(self.name).id, run.id)

        line = io.StringIO()
        with mock.patch("sys.stderr", line):
            analysis = self.client.analyze(run, ["grpo", ("gae", {"granularity": "turn"})]).wait(120, progress=True)
        self.assertEqual(analysis.state, "completed")
        self.assertEqual([estimator["label"] for estimator in analysis.estimators], ["grpo", "gae"])
        self.assertEqual(analysis.estimators[1]["inputsMissing"][0]["path"], "turn.valueEstimate")
        # blanks where the time left stood
        self.assertRegex(line.getvalue(), r"analysis \[=+\] 2/2 *\n$")
        comparison = analysis.comparison()
        self.assertEqual(comparison and comparison["turns"], 6)
        credit = analysis.credit()
        self.assertEqual(credit.shards, (2, 2))
        self.assertEqual(credit.to_bytes()[:4], b"\xff\xff\xff\xff", "an Arrow stream")
        self.assertEqual(credit.save(self.folder / "credit.arrow").read_bytes(), credit.to_bytes())
        self.assertLess(len(run.trajectories(1).to_bytes()), len(run.trajectories().to_bytes()))
        self.assertEqual(run.trajectories((0, None)).to_bytes(), run.trajectories("0..1").to_bytes())

        again = self.client.analysis(analysis.id).wait(10)
        self.assertEqual(again.progress["done"], 2)

    @unittest.skipUnless(importlib.util.find_spec("pyarrow"), "pyarrow is not installed")
    def test_columns_in_pyarrow(self) -> None:
        run = self.recorded()
        table = run.trajectories().to_arrow()
        self.assertEqual(table.column("action").to_pylist()[:3], ["open fridge", "cool", "look"])
        credit = run.analyze([{"id": "grpo", "params": {"normalizeByStd": False}}]).wait(120).credit().to_arrow()
        self.assertEqual(credit.column("grpo").to_pylist(), [0.5, 0.5, -0.5] * 2)

    @unittest.skipUnless(importlib.util.find_spec("pandas") and importlib.util.find_spec("pyarrow"), "pandas is not installed")
    def test_columns_in_pandas(self) -> None:
        frame = self.recorded().analyze([("grpo", {"normalizeByStd": False})]).wait(120).credit().to_pandas()
        self.assertEqual(frame.groupby("trajectory")["grpo"].mean().to_dict(), {"0-0": 0.5, "0-1": -0.5, "1-0": 0.5, "1-1": -0.5})

    @unittest.skipUnless(importlib.util.find_spec("polars"), "polars is not installed")
    def test_columns_in_polars(self) -> None:
        frame = self.recorded().trajectories().to_polars()
        self.assertEqual(frame["trainingStep"].to_list(), [0, 0, 0, 1, 1, 1])
        self.assertEqual(frame["outcomeReward"].to_list(), [1, 1, 0] * 2)

    @unittest.skipUnless(importlib.util.find_spec("pyarrow"), "pyarrow is not installed")
    def test_the_diagnosis_is_read_back(self) -> None:
        run = self.recorded()
        until = time.monotonic() + 60
        while run.diagnostics().to_arrow().num_rows == 0 and time.monotonic() < until:
            time.sleep(0.2)
        rows = run.diagnostics().to_arrow().to_pylist()
        silent = [row for row in rows if (row["diagnostic"], row["name"]) == ("zero-variance-groups", "groupFraction")]
        self.assertEqual([(row["trainingStep"], row["value"]) for row in silent], [(None, 0), (0, 0), (1, 0)])
        self.assertEqual(run.alerts().to_arrow().num_rows, 0)
        tasks = [row for row in run.plan().to_arrow().to_pylist() if row["kind"] == "task"]
        self.assertEqual([(row["task"], row["attempts"], row["successes"]) for row in tasks], [("cool-mug", 4, 2)])

    def test_the_audit_finds_the_logged_advantages_right(self) -> None:
        run = self.recorded()
        asked = {"run": run.id, "estimator": "grpo", "params": {"normalizeByStd": False}}
        mutation = "mutation ($input: StartAuditInput!) { startAudit(input: $input) { id } }"
        audit = self.client.graphql(mutation, {"input": asked})["startAudit"]["id"]
        for _ in range(600):
            query = "query ($id: ID!) { audit(id: $id) { state result failure } }"
            said = self.client.graphql(query, {"id": audit})["audit"]
            if said["state"] != "RUNNING":
                break
            time.sleep(0.1)
        self.assertEqual(said["state"], "COMPLETED", said)
        self.assertEqual((said["result"]["audited"], said["result"]["matchShare"]), (2, 1), said)

    def test_advantages_in_the_loop(self) -> None:
        with mock.patch.dict(os.environ, {"RECREDIT_URL": URL or "", "RECREDIT_API_KEY": KEY or ""}):
            said = recredit.estimate(ROLLOUTS, "grpo", {"normalizeByStd": False})
        self.assertEqual(said.trajectory_advantage, [0.5, -0.5])
        self.assertEqual(said.turn_advantage, [[0.5, 0.5], [-0.5]])
        self.assertEqual((said.level, said.groups, said.params["normalizeByStd"]), ("trajectory", ("cool-mug",), False))

    def test_what_the_platform_refuses_is_said(self) -> None:
        cases = {
            "estimator.unknown": lambda: self.client.estimate(ROLLOUTS, "grpoo"),
            "params.invalid": lambda: self.client.estimate(ROLLOUTS, "grpo", {"gama": 1}),
            "signals.missing": lambda: self.client.estimate([{"group": "g", "turns": [{}]}], "grpo"),
            "run.unknown": lambda: self.client.run("nowhere"),
            "analysis.unknown": lambda: self.client.analysis(str(uuid.uuid4())),
            "key.invalid": lambda: recredit.Client(URL, "rk_no_key").graphql("{ devices { id } }"),
            "no.answer": lambda: recredit.Client("http://127.0.0.1:9", KEY).run("x"),
            "query.invalid": lambda: self.client.graphql("{ nothing }"),
        }
        for code, ask in cases.items():
            with self.subTest(code), self.assertRaises(recredit.RecreditError) as refused:
                ask()
            self.assertEqual(refused.exception.code, code)
        with self.assertRaisesRegex(recredit.Unsendable, "^/0/turns/0/reward: expected a finite number"):
            self.client.estimate([{"group": "g", "turns": [{"reward": math.inf}]}], "grpo")


class Columns(unittest.TestCase):
    def test_a_package_that_is_not_there_is_named(self) -> None:
        with mock.patch.dict(sys.modules, {"polars": None}), self.assertRaisesRegex(ImportError, r"pip install 'recredit\[arrow\]'"):
            Frame(b"").to_polars()

    def test_credit_that_is_not_whole_warns(self) -> None:
        analysis = recredit.Analysis(mock.Mock(_frame=lambda _: Frame(b"", (1, 2))), {"id": "a", "state": "RUNNING"})
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            analysis.credit()
        self.assertIn("the credit of 1 of 2 shards", str(said[0].message))

    def test_the_line_says_how_far_it_is_where_somebody_looks(self) -> None:
        stream = io.StringIO()
        with contextlib.redirect_stderr(stream):
            quiet = ProgressLine("analysis")
            quiet.update(1, 2)
            quiet.end()
            self.assertEqual(stream.getvalue(), "")
            shown = ProgressLine("analysis", True)
            for done, left in ((0, None), (30, 3_700.0), (60, None)):
                shown.update(done, 60, left)
            shown.end()
        lines = stream.getvalue().split("\r")
        self.assertEqual(lines[2], f"analysis [{'=' * 12}{' ' * 12}] 30/60, 1 h 1 min left")
        self.assertEqual(lines[3].rstrip(), f"analysis [{'=' * 24}] 60/60")
        self.assertTrue(stream.getvalue().endswith("\n"))

    def test_in_a_notebook_the_line_is_shown_below_its_cell(self) -> None:
        output = io.StringIO()
        with mock.patch.dict(sys.modules, {"ipykernel": mock.Mock()}), contextlib.redirect_stdout(output):
            line = ProgressLine("analysis")
            line.update(1, 2)
            line.end()
        self.assertEqual(output.getvalue(), f"\ranalysis [{'=' * 12}{' ' * 12}] 1/2\n")

    def test_in_a_terminal_the_line_is_shown_where_it_does_not_mix_with_output(self) -> None:
        terminal = io.StringIO()
        terminal.isatty = lambda: True  # type: ignore[method-assign]
        with contextlib.redirect_stderr(terminal):
            ProgressLine("analysis").update(0, 0)
        self.assertEqual(terminal.getvalue(), f"\ranalysis [{' ' * 24}] ...")
