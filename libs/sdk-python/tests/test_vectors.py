"""Both SDKs write the same lines and read answers alike: see libs/sdk/src/vectors.spec.ts."""

from __future__ import annotations

import calendar
import time
import unittest
from unittest import mock

from recredit.backoff import Backoff, wait_seconds
from recredit.encode_event import encode_event
from recredit.json_text import Unsendable
from recredit.problem import outcome_of
from recredit.start_run import idempotency_key_of
from recredit.trajectory import Trajectory

from .vectors import revived, vectors


class Vectors(unittest.TestCase):
    def test_events_are_the_same_bytes_or_the_same_problem(self) -> None:
        file = vectors("events.json")
        for case in file["cases"]:
            with self.subTest(case["name"]):
                try:
                    line, _ = encode_event(revived(case["event"]), file["at"])
                except Unsendable as error:
                    self.assertIn("problem", case, str(error))
                    self.assertTrue(error.pointer.startswith(case["problem"]), f"{error.pointer}: {error}")
                    continue
                self.assertNotIn("problem", case, line)
                self.assertEqual(line[-1:], b"\n")
                if "line" in case:
                    self.assertEqual(line.decode(), case["line"])

    def test_rollouts_are_the_same_lines(self) -> None:
        file = vectors("trajectories.json")
        for case in file["cases"]:
            with self.subTest(case["name"]), mock.patch("recredit.trajectory.now", lambda at=file["at"]: at):
                written: list[str | None] = []

                def write(encode, written=written):
                    try:
                        written.append(encode()[0].decode())
                    except Unsendable:
                        written.append(None)

                start = case["start"]
                trajectory = Trajectory(write, start["group"], start["trainingStep"], start["id"], start.get("parent"))
                for turn in case["turns"]:
                    trajectory.turn(**revived(turn))
                end = revived(case["end"])
                if "outcomeReward" in end:
                    end["outcome_reward"] = end.pop("outcomeReward")
                trajectory.end(**end)
                self.assertEqual(written, case["lines"])

    def test_a_project_and_a_name_are_one_run(self) -> None:
        for case in vectors("requests.json")["idempotencyKeys"]:
            self.assertEqual(idempotency_key_of(case["project"], case["name"]), case["key"])

    def test_answers_are_sorted_by_what_helps(self) -> None:
        file = vectors("requests.json")["outcomes"]
        now = calendar.timegm(time.strptime(file["now"], "%Y-%m-%dT%H:%M:%SZ"))
        for case in file["cases"]:
            with self.subTest(case["status"], body=case["body"]):
                outcome = outcome_of(case["status"], case["body"].encode(), case["retryAfter"], now)
                found = (outcome.kind, outcome.after, outcome.problem.code, outcome.problem.detail)
                self.assertEqual(found, (case["kind"], case["afterSeconds"], case["code"], case["detail"]))
                self.assertEqual(outcome.problem.details.get("expected"), case["expected"])

    def test_failures_wait_the_same(self) -> None:
        file = vectors("requests.json")["waits"]
        backoff = Backoff(file["baseSeconds"], file["capSeconds"])
        for case in file["cases"]:
            seconds = wait_seconds(case["attempt"], case["asked"], case["random"], backoff)
            self.assertAlmostEqual(seconds, case["seconds"], places=12)
