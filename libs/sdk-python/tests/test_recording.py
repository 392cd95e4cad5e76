"""Recording and sending, against a platform that has bad days."""

from __future__ import annotations

import array
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from pathlib import Path
from typing import Any
from unittest import mock

import recredit
from recredit.backoff import Backoff
from recredit.spool import SealAt, Spool
from recredit.spool_lock import take_lock

from .fake_platform import FakePlatform

PACKAGE = Path(__file__).parents[1]
QUICK = Backoff(0.005, 0.02)


class Recording(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.spool = Path(folder.name) / "spool"
        self.platform = FakePlatform()
        self.addCleanup(self.platform.close)
        key = mock.patch.dict(os.environ, {"RECREDIT_API_KEY": "rk_a_b"})
        key.start()
        self.addCleanup(key.stop)

    def start(self, **options: Any) -> recredit.Run:
        told = {"url": self.platform.url, "spool": self.spool, "backoff": QUICK, "seal_after": 0.01, **options}
        run = recredit.start_run(**{"project": "p", "name": "r", **told})
        self.addCleanup(run.close, 0.0)
        return run

    def turns(self, trajectory: str, name: str = "r") -> list[int]:
        events = self.platform.events(name)
        return [event["turn"] for event in events if event["type"] == "turn.recorded" and event["trajectory"] == trajectory]

    def files(self) -> list[str]:
        return sorted(path.name for path in self.spool.glob("*/*")) if self.spool.exists() else []

    def test_what_a_trainer_records_arrives_in_order(self) -> None:
        run = self.start(config={"lr": 1e-6, "dir": Path("/tmp"), "inf": float("inf")})
        trajectory = run.trajectory(group="g", training_step=0, id="t")
        for turn in range(3):
            self.assertTrue(trajectory.turn(f"state {turn}", "go", reward=0, tokens={"logprob": array.array("f", [-1])}))
        self.assertTrue(trajectory.end(outcome_reward=1.0, success=True))
        self.assertTrue(run.training_step(0, {"loss": 0.5}))
        self.assertTrue(run.annotate("t", "ada", turns={1: {"humanLabel": -1}}))
        self.assertTrue(run.log_advantages({"t": [0.5, None, array.array("d", [0.25])[0]]}))
        self.assertTrue(run.record(id="w", group="g", training_step=0, turns=[{"action": "a"}], outcome_reward=0))
        self.assertTrue(run.checkpoint(0, array.array("f", [1, 2])))
        self.assertTrue(run.checkpoint(1, recredit.sketch({"h.0.w": [1.0], "h.1.w": [2.0]}, dimensions=2)))
        self.assertTrue(run.rewind(0))
        report = run.end()
        types = [event["type"] for event in self.platform.events("r")]
        self.assertEqual(types, ["turn.recorded"] * 3 + [
            "trajectory.ended", "trainingStep.recorded", "annotation.recorded", "annotation.recorded",
            "trajectory.recorded", "checkpoint.recorded", "checkpoint.recorded", "run.rewound", "run.ended",
        ])
        self.assertEqual((report.accepted, report.sent, report.unsent, report.position), (12, 12, 0, 12))
        self.assertEqual(str(report), "r: 12 events are in the log.")
        sketched = self.platform.events("r")[9]
        self.assertEqual(sketched["tensors"], [{"name": "h.*.w", "size": 2}])
        self.assertEqual(sketched["projection"], {"method": "count-sketch", "dimensions": 2, "seed": 0})
        advantages = self.platform.events("r")[6]["turns"]
        self.assertEqual(advantages, [{"turn": 0, "signals": {"loggedAdvantage": 0.5}}, {"turn": 2, "signals": {"loggedAdvantage": 0.25}}])
        time.sleep(0.05)
        self.assertEqual(self.files(), [])
        self.assertFalse(run.training_step(1, {}))
        self.assertEqual(run.training_step(1, {}).reason, "ended")

    def test_each_event_arrives_once_whatever_goes_wrong(self) -> None:
        self.platform.faults.extend([None, "lost", "dropped", "busy", "lost", "down", None, "lost"])
        run = self.start(seal_at=SealAt(7, 10_000))
        trajectory = run.trajectory(group="g", training_step=0, id="t")
        for turn in range(100):
            trajectory.turn("s", "a", reward=turn)
        report = run.end(deadline=30)
        self.assertEqual(self.turns("t"), list(range(100)))
        self.assertEqual((report.sent, report.unsent), (101, 0))
        self.assertGreater(report.duplicates, 0)

    def test_a_server_that_asks_to_wait_is_left_alone_that_long(self) -> None:
        self.platform.faults.append("busy")
        run = self.start()
        run.training_step(0, {})
        while run.report().problem is None:
            time.sleep(0.001)
        told = time.monotonic()
        report = run.close(10)  # which hurries, but not against the server's wish of 0.3 s
        self.assertEqual((report.sent, len(self.platform.requests)), (1, 3), "the run, the batch, the batch again")
        self.assertGreater(time.monotonic() - told, 0.2)

    def test_a_batch_that_is_refused_holds_up_no_other(self) -> None:
        self.platform.faults.append("unwanted")
        run = self.start(seal_at=SealAt(2, 10_000))
        for step in range(4):
            run.training_step(step, {})
        report = run.close(10)
        self.assertEqual((report.sent, report.refused, report.unsent), (2, 2, 0))
        self.assertEqual(report.problem.code, "events.invalid")
        self.assertIn("00000000.problem.json", self.files())
        self.assertEqual(json.loads(next(self.spool.glob("*/*.problem.json")).read_text())["code"], "events.invalid")

    def test_a_key_without_the_right_is_said_and_nothing_is_lost(self) -> None:
        self.platform.faults.append("forbidden")
        run = self.start()
        run.training_step(0, {})
        report = run.close(10**6)  # which does not wait for a person
        self.assertEqual((report.unsent, report.problem.code), (1, "role.missing"))
        self.assertIn("are still unsent (this key may not); `recredit sync", str(report))
        time.sleep(0.05)
        self.assertEqual(recredit.sync(self.spool, backoff=QUICK).sent, 1)

    def test_an_unreachable_server_holds_up_nothing(self) -> None:
        run = self.start(url="http://127.0.0.1:9")
        for step in range(200):
            self.assertTrue(run.training_step(step, {}))
        self.assertEqual(run.report().unsent, 200)
        report = run.end(deadline=0.05)
        self.assertEqual((report.unsent, report.problem.code), (201, "no.answer"))
        time.sleep(0.05)
        report = recredit.sync(self.spool, url=self.platform.url, backoff=QUICK)
        self.assertEqual((report.sent, report.unsent), (201, 0))
        self.assertEqual(len(self.platform.events("r")), 201)

    def test_no_object_of_a_trainer_makes_a_call_raise(self) -> None:
        class Hostile:
            def __getattr__(self, name: str) -> Any:
                raise RuntimeError("not now")

            def __repr__(self) -> str:
                raise RuntimeError("not now")

        cyclic: list[Any] = []
        cyclic.append(cyclic)
        run = self.start()
        trajectory = run.trajectory(group="g", training_step=0)
        values: list[Any] = [Hostile(), cyclic, b"x", {1, 2}, (1 << 70) + 1, float("inf"), object(), lambda: 1, mock.MagicMock(), {(1, 2): 3}]
        for value in values:
            receipt = trajectory.turn("s", "a", signals={"x": value})
            self.assertEqual((receipt.accepted, receipt.reason), (False, "invalid"), repr(type(value)))
        for fields in ({"signals": 3}, {"tokens": [1]}, {"reward": "x"}, {"tokens": {"a": 3}}, {"tokens": {"a": "text"}}):
            self.assertFalse(trajectory.turn("s", "a", **fields), str(fields))
        self.assertFalse(run.trajectory(group=Hostile(), training_step=-1).turn("s"))
        self.assertFalse(run.log_advantages(3))
        self.assertFalse(run.log_advantages({"t": [[0.5, 0.5]]}))
        self.assertFalse(run.append({"type": "nothing"}))
        self.assertFalse(run.append(3))
        self.assertFalse(run.record())
        self.assertTrue(trajectory.turn("s", "a"))
        report = run.close(10)
        self.assertEqual((report.sent, report.dropped), (1, 21))
        [event] = self.platform.events("r")
        self.assertEqual(event["turn"], 15, "what was refused keeps its index")
        self.assertEqual(len(report.reasons), 20)

    def test_a_full_spool_is_back_pressure_and_room_comes_back(self) -> None:
        self.platform.answering.clear()
        run = self.start(max_spool_bytes=2_000)
        receipts = [run.training_step(step, {"loss": step}) for step in range(60)]
        refused = [receipt for receipt in receipts if not receipt]
        self.assertGreater(len(refused), 10)
        self.assertEqual({receipt.reason for receipt in refused}, {"back-pressure"})
        self.platform.answering.set()
        run.flush(10)
        self.assertTrue(run.training_step(99, {}))
        report = run.close(10)
        self.assertEqual(report.back_pressure, len(refused))
        self.assertEqual(report.sent, 61 - len(refused))

    def test_threads_share_a_run(self) -> None:
        run = self.start(seal_at=SealAt(50, 100_000))

        def roll_out(number: int) -> None:
            with run.trajectory(group="g", training_step=0, id=f"t{number}") as trajectory:
                for turn in range(200):
                    trajectory.turn("s", "a", reward=turn)

        threads = [threading.Thread(target=roll_out, args=(number,)) for number in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        report = run.end(deadline=30)
        self.assertEqual((report.accepted, report.sent), (8 * 201 + 1, 8 * 201 + 1))
        for number in range(8):
            self.assertEqual(self.turns(f"t{number}"), list(range(200)))

    @unittest.skipUnless(hasattr(os, "fork"), "no fork on this system")
    def test_a_forked_child_is_a_producer_of_its_own(self) -> None:
        run = self.start()
        trajectory = run.trajectory(group="g", training_step=0, id="t")
        trajectory.turn("s", "parent")
        child = os.fork()
        if child == 0:
            status = 1
            try:
                recorded = trajectory.turn("s", "child")
                report = run.close(10)
                status = 0 if recorded and report.sent == 1 and report.accepted == 1 else 2
            finally:
                os._exit(status)
        self.assertEqual(os.waitpid(child, 0)[1], 0)
        trajectory.turn("s", "parent")
        report = run.close(10)
        self.assertEqual((report.sent, report.unsent), (2, 0))
        self.assertEqual(len(self.platform.runs["r"]), 2, "two producers")
        self.assertEqual(sorted(event["action"] for event in self.platform.events("r")), ["child", "parent", "parent"])

    @unittest.skipUnless(hasattr(os, "fork"), "no fork on this system")
    def test_a_worker_of_multiprocessing_flushes_when_it_ends(self) -> None:
        script = (
            "import multiprocessing, recredit, sys\n"
            "run = recredit.start_run(project='p', name='r', url=sys.argv[1], spool=sys.argv[2])\n"
            "def work():\n"
            "    run.training_step(1, {})\n"
            "worker = multiprocessing.get_context('fork').Process(target=work)\n"
            "worker.start(); worker.join(); run.training_step(0, {}); run.close()\n"
        )
        done = subprocess.run([sys.executable, "-c", script, self.platform.url, str(self.spool)], cwd=PACKAGE, capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("recredit: r: 1 events are in the log.", done.stderr)
        self.assertEqual(sorted(event["trainingStep"] for event in self.platform.events("r")), [0, 1])

    def test_a_process_that_ends_flushes_and_says_so(self) -> None:
        script = (
            "import recredit, sys\n"
            "run = recredit.start_run(project='p', name='r', url=sys.argv[1], spool=sys.argv[2])\n"
            "for step in range(10): run.training_step(step, {})\n"
        )
        done = subprocess.run([sys.executable, "-c", script, self.platform.url, str(self.spool)], cwd=PACKAGE, capture_output=True, text=True, timeout=60)
        self.assertEqual((done.returncode, done.stderr), (0, "recredit: r: 10 events are in the log.\n"))
        self.assertEqual(len(self.platform.events("r")), 10)

    def test_a_killed_process_loses_nothing_it_was_told_is_recorded(self) -> None:
        script = (
            "import recredit, sys\n"
            "run = recredit.start_run(project='p', name='r', url=sys.argv[1], spool=sys.argv[2], seal_after=0.02)\n"
            "trajectory = run.trajectory(group='g', training_step=0, id=sys.argv[3])\n"
            "for turn in range(10**9):\n"
            "    if trajectory.turn('s' * 200, 'a'): print(turn + 1, flush=True)\n"
        )
        self.platform.faults.extend([None, "lost", None, "dropped", None, "lost"])
        recorded = []
        for number, life in enumerate((0.0, 0.05, 0.15)):
            arguments = [sys.executable, "-c", script, self.platform.url, str(self.spool), f"t{number}"]
            child = subprocess.Popen(arguments, cwd=PACKAGE, stdout=subprocess.PIPE, text=True)
            assert child.stdout
            child.stdout.readline()
            time.sleep(life)
            child.send_signal(signal.SIGKILL)
            lines = child.stdout.read().split("\n")
            child.wait()
            child.stdout.close()
            recorded.append(int(lines[-2]) if len(lines) > 1 else 1)
            if number == 0:
                newest = max(self.spool.glob("*/*.ndjson"))
                with newest.open("a") as file:
                    file.write('{"type":"turn.recorded","at":"2026-01-01T00')
        report = recredit.sync(self.spool, url=self.platform.url, backoff=QUICK)
        self.assertEqual((report.unsent, report.refused), (0, 0))
        for number, count in enumerate(recorded):
            delivered = self.turns(f"t{number}")
            self.assertEqual(delivered, list(range(len(delivered))))
            self.assertIn(len(delivered) - count, (0, 1), "recorded, and killed before it could say so")
        self.assertEqual(list(self.spool.iterdir()), [])

    def test_the_next_start_delivers_what_the_last_one_left_first(self) -> None:
        left = recredit.offline(self.spool).start_run(project="p", name="r")
        left.training_step(0, {})
        left.close()
        other = recredit.offline(self.spool).start_run(project="p", name="other")
        other.training_step(7, {})
        other.close()
        run = self.start()
        run.training_step(1, {})
        run.close(10)
        self.assertEqual([event["trainingStep"] for event in self.platform.events("r")], [0, 1])
        self.start()
        for _ in range(500):
            if self.platform.events("other"):
                break
            time.sleep(0.01)
        self.assertEqual([event["trainingStep"] for event in self.platform.events("other")], [7])

    def test_a_server_from_an_older_backup_gets_again_what_it_lost(self) -> None:
        run = self.start(seal_at=SealAt(2, 10_000))
        for step in range(6):
            run.training_step(step, {})
        run.flush(10)
        [batches] = self.platform.runs["r"].values()
        del batches[1:]
        run.training_step(6, {})
        report = run.close(10)
        self.assertEqual([event["trainingStep"] for event in self.platform.events("r")], list(range(7)))
        self.assertEqual((report.sent, report.unsent), (7, 0))

    def test_a_living_process_keeps_its_folder(self) -> None:
        run = self.start(url="http://127.0.0.1:9")
        run.training_step(0, {})
        report = recredit.sync(self.spool, url=self.platform.url, backoff=QUICK)
        self.assertEqual([producer.held for producer in report.producers], [True])
        self.assertEqual(report.sent, 0)

    def test_a_block_says_how_the_run_ended(self) -> None:
        for error, state in ((None, "completed"), (ValueError("no data"), "failed"), (KeyboardInterrupt(), "stopped")):
            with self.subTest(state):
                try:
                    with self.start(name=state) as run:
                        with run.trajectory(group="g", training_step=0, id="t") as trajectory:
                            trajectory.turn("s", "a")
                            if error:
                                raise error
                except (ValueError, KeyboardInterrupt):
                    pass
                events = self.platform.events(state)
                self.assertEqual((events[-1]["type"], events[-1]["state"]), ("run.ended", state))
                ended = [event for event in events if event["type"] == "trajectory.ended"]
                self.assertEqual(len(ended), 0 if error else 1)

    def test_options_that_cannot_be_meant_are_said_at_once(self) -> None:
        for options in ({"project": ""}, {"name": 3}, {"url": "ftp://x"}, {"config": 3}):
            with self.subTest(str(options)), self.assertRaises(ValueError):
                self.start(**options)

    def test_the_command_delivers_a_folder(self) -> None:
        run = recredit.offline(self.spool).start_run(project="p", name="r")
        run.training_step(0, {})
        run.end()
        arguments = [sys.executable, "-m", "recredit", "sync", str(self.spool), "--url", self.platform.url]
        done = subprocess.run(arguments, cwd=PACKAGE, capture_output=True, text=True, timeout=60)
        self.assertEqual(done.stdout, "p/r: 2 sent, 0 unsent, 0 refused\n2 events sent, 0 unsent, 0 refused\n", done.stderr)
        self.assertEqual(done.returncode, 0)
        done = subprocess.run(arguments, cwd=PACKAGE, capture_output=True, text=True, timeout=60)
        self.assertEqual((done.returncode, done.stdout), (0, "nothing waits there\n"))


class OneSpool(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def test_a_disk_that_is_full_tears_no_line(self) -> None:
        spool = Spool(self.folder, 10_000)
        self.assertTrue(spool.append(b'{"a":1}\n', None))
        write = os.write
        with mock.patch("os.write", lambda fd, line: write(fd, line[:3])):
            self.assertEqual(spool.append(b'{"b":2}\n', None).reason, "back-pressure")
        with mock.patch("os.write", side_effect=KeyboardInterrupt), self.assertRaises(KeyboardInterrupt):
            spool.append(b'{"c":3}\n', None)
        self.assertTrue(spool.append(b'{"d":4}\n', None))
        spool.seal()
        spool.sync_sealed()
        self.assertEqual((self.folder / "00000000.ndjson").read_bytes(), b'{"a":1}\n{"d":4}\n')
        self.assertEqual(spool.unsent, 2)

    def test_a_turn_index_that_skips_begins_a_new_batch(self) -> None:
        spool = Spool(self.folder, 10_000)
        for turn in (0, 1, 3, 4):
            spool.append(b"{}\n", ("t", turn))
        self.assertEqual((spool.sealed, spool.unsent), (1, 4))
        spool.seal()
        spool.sync_sealed()

    def test_a_lock_is_taken_over_from_the_dead_only(self) -> None:
        first = take_lock(self.folder)
        assert first
        self.assertIsNone(take_lock(self.folder))
        first.release()
        second = take_lock(self.folder)
        assert second
        self.assertEqual((first.epoch, second.epoch), (0, 1))
        self.assertFalse(first.renew())
        self.assertTrue(second.renew())
        lock = self.folder / "lock.1"
        lock.write_text(json.dumps({**json.loads(lock.read_text()), "pid": 2**22 + 1}))
        self.assertIsNotNone(take_lock(self.folder))


if __name__ == "__main__":
    unittest.main()
