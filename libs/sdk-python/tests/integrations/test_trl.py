"""What is recorded of TRL: with the real trainer where it is installed, and with a stand-in of its interface anywhere."""

from __future__ import annotations

import base64
import importlib.util
import json
import math
import statistics
import struct
import tempfile
import unittest
import warnings
from types import SimpleNamespace
from typing import Any

from recredit.integrations import trl as integration

from .stand_ins import Recorded, Tensor

HAS_TRL = all(importlib.util.find_spec(name) for name in ("torch", "trl", "tokenizers", "datasets"))


def floats(column: Any) -> list[float]:
    if isinstance(column, list):
        return column
    content = base64.b64decode(column["f32"])
    return list(struct.unpack(f"<{len(content) // 4}f", content))


@unittest.skipUnless(HAS_TRL, "TRL is not installed: tried with a stand-in only")
class WithTheRealTrainer(unittest.TestCase):
    def rollouts(self, **settings: Any) -> tuple[Any, Any, list[dict[str, Any]], list[dict[str, Any]]]:
        """:returns: the model as it was at first, the trainer, turns and ends [rollouts]"""
        import copy

        from .tiny_grpo import tiny_trainer

        with tempfile.TemporaryDirectory() as folder, Recorded() as recorded, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            trainer = tiny_trainer(folder, **settings)
            first = type(trainer.model)(trainer.model.config).eval()  # a copy would share what the trainer has wrapped
            first.load_state_dict(copy.deepcopy(trainer.model.state_dict()))
            warnings.simplefilter("error", RuntimeWarning)  # what could not be recorded
            integration.watch(trainer, recorded.run)
            trainer.train()
            turns, ends = recorded.of("turn.recorded"), recorded.of("trajectory.ended")
            self.steps = recorded.of("trainingStep.recorded")
        self.assertEqual([turn["trajectory"] for turn in turns], [end["trajectory"] for end in ends])
        return first, trainer, turns, ends

    def check(self, turns: list[dict[str, Any]], ends: list[dict[str, Any]], expected: int) -> None:
        self.assertEqual(len(turns), expected)
        groups: dict[Any, list[int]] = {}
        for i, end in enumerate(ends):
            groups.setdefault((end["trainingStep"], end["group"]), []).append(i)
        for members in groups.values():
            self.assertEqual(len(members), 4)
            self.assertEqual(len({turns[i]["state"] for i in members}), 1)
            rewards = [ends[i]["outcomeReward"] for i in members]
            spread = statistics.stdev(rewards)
            for i in members:
                wanted = (ends[i]["outcomeReward"] - statistics.mean(rewards)) / (spread + 1e-4)
                self.assertAlmostEqual(turns[i]["signals"]["loggedAdvantage"], wanted, places=3)
        for turn, end in zip(turns, ends):
            tokens = {name: floats(column) for name, column in turn["tokens"].items()}
            self.assertEqual({len(column) for column in tokens.values()}, {len(tokens["tokenId"])})
            self.assertEqual(set(tokens), {"tokenId", "logprob", "entropy"})
            said = {name: value for name, value in end["signals"].items() if value is not None}
            weighted = said["reward.many_small"] + 0.5 * said.get("reward.short", 0.0)
            self.assertAlmostEqual(end["outcomeReward"], weighted, places=6)

    def test_groups_rewards_advantages_and_tokens_are_those_of_the_trainer(self) -> None:
        import torch

        first, trainer, turns, ends = self.rollouts(steps=2)
        self.check(turns, ends, 16)
        self.assertEqual({end["trainingStep"] for end in ends}, {0, 1})
        self.assertTrue(any(end["signals"]["reward.short"] is None for end in ends))
        self.assertEqual([event["trainingStep"] for event in self.steps], [0, 1, 1])
        self.assertIn("loss", self.steps[0]["metrics"])
        for turn in (turn for turn in turns if turn["trainingStep"] == 0):
            prompt = trainer.processing_class(turn["state"])["input_ids"]
            ids = turn["tokens"]["tokenId"]
            with torch.no_grad():
                logits = first(torch.tensor([prompt + ids])).logits[0, len(prompt) - 1 : -1]
            scores = torch.log_softmax(logits / trainer.temperature, -1)
            logprobs = scores[range(len(ids)), ids].tolist()
            entropies = (-(scores.exp() * scores).sum(-1)).tolist()
            for found, wanted in ((turn["tokens"]["logprob"], logprobs), (turn["tokens"]["entropy"], entropies)):
                for one, other in zip(floats(found), wanted, strict=True):
                    self.assertAlmostEqual(one, other, places=4)

    def test_batches_that_are_shuffled_split_and_used_twice(self) -> None:
        settings = {"per_device_train_batch_size": 4, "gradient_accumulation_steps": 2, "num_iterations": 2}
        _, _, turns, ends = self.rollouts(steps=4, **settings)
        self.check(turns, ends, 16)

    def test_the_example_of_the_guide_runs_as_it_stands_there(self) -> None:
        import os
        import re
        from pathlib import Path
        from unittest import mock

        from ..fake_platform import FakePlatform
        from .tiny_grpo import tiny_trainer

        guide = (Path(__file__).parents[4] / "docs/guides/trainers.md").read_text()
        example = re.findall(r"```python\n(.*?)```", guide, re.S)[0]
        with tempfile.TemporaryDirectory() as folder, FakePlatform() as platform, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            told = {"RECREDIT_URL": platform.url, "RECREDIT_API_KEY": "rk_a_b", "RECREDIT_SPOOL": f"{folder}/spool"}
            with mock.patch.dict(os.environ, told):
                exec(compile(example, "guide", "exec"), {"trainer": tiny_trainer(folder, steps=1)})
            events = platform.events("grpo-tiny")
        self.assertEqual(sum(event["type"] == "trajectory.ended" for event in events), 8)


class StandInTrainer:
    """The interface of a GRPOTrainer that is listened to; it generates one batch a step, and shuffles it before its loss."""

    def __init__(self) -> None:
        self.model = SimpleNamespace(training=True)
        self.accelerator = SimpleNamespace(process_index=0)
        self.state = SimpleNamespace(global_step=0, is_world_process_zero=True)
        self.reward_func_names = ["length", "taste"]
        self.reward_weights = Tensor([1.0, 0.5])
        self.num_generations = 2
        self.callbacks: list[Any] = []

    def add_callback(self, callback: Any) -> None:
        self.callbacks.append(callback)

    def _calculate_rewards(self, inputs: Any, prompts: Any, completions: Any, ids: Any) -> Tensor:
        return Tensor([[1.0, math.nan], [0.0, 2.0], [math.nan, math.nan], [3.0, 1.0]])

    def _get_per_token_logps_and_entropies(self, rows: list[int]) -> Any:
        return Tensor([[-0.1 * row, -0.5] for row in rows]), Tensor([[1.0 * row, 2.0] for row in rows]), None

    def _generate_and_score_completions(self, inputs: Any) -> dict[str, Any]:
        prompts = ["a", "a", "b", "b"]
        self._calculate_rewards(inputs, prompts, ["w x", "w", "y z", "y"], None)
        self._get_per_token_logps_and_entropies([9, 9, 9, 9])
        return {
            "completion_ids": Tensor([[5, 6], [5, 0], [7, 8], [7, 0]]),
            "completion_mask": Tensor([[1, 1], [1, 0], [1, 1], [1, 0]]),
            "advantages": Tensor([0.5, -0.5, 0.0, 0.25]),
        }

    def _compute_loss(self, model: Any, inputs: dict[str, Any]) -> float:
        self._get_per_token_logps_and_entropies(inputs["rows"])
        return 0.0

    def step(self, with_loss: bool = True) -> None:
        output = self._generate_and_score_completions(None)
        order = [2, 0, 3, 1]
        if with_loss:
            for some in (order[:2], order[2:]):
                row = output.get("recredit_row")
                mine = {} if row is None else {"recredit_row": Tensor([row.tolist()[i] for i in some])}
                self._compute_loss(None, {"rows": some, **mine})
        self.state.global_step += 1
        for callback in self.callbacks:
            callback.on_log(None, self.state, None, logs={"loss": 0.5, "lr": float("inf"), "note": "x"})


class WithAStandIn(unittest.TestCase):
    def test_a_rollout_has_its_own_row_after_shuffling_and_splitting(self) -> None:
        with Recorded() as recorded:
            trainer = StandInTrainer()
            integration.watch(trainer, recorded.run)
            trainer.step()
            turns = {turn["action"]: turn for turn in recorded.of("turn.recorded")}
            ends = {end["trajectory"]: end for end in recorded.of("trajectory.ended")}
            steps = recorded.of("trainingStep.recorded")
        self.assertEqual(turns["y z"]["tokens"], {"tokenId": [7, 8], "logprob": [-0.2, -0.5], "entropy": [2.0, 2.0]})
        self.assertEqual(turns["w"]["tokens"], {"tokenId": [5], "logprob": [-0.1], "entropy": [1.0]})
        self.assertEqual(turns["w"]["signals"], {"loggedAdvantage": -0.5})
        rewards = {action: ends[turn["trajectory"]]["outcomeReward"] for action, turn in turns.items()}
        self.assertEqual(rewards, {"w x": 1.0, "w": 1.0, "y z": None, "y": 3.5})
        self.assertEqual(turns["w x"]["group"], turns["w"]["group"])
        self.assertNotEqual(turns["w x"]["group"], turns["y"]["group"])
        self.assertEqual([(event["trainingStep"], event["metrics"]) for event in steps], [(0, {"loss": 0.5})])

    def test_rollouts_without_a_loss_are_recorded_when_the_next_ones_come_or_training_ends(self) -> None:
        with Recorded() as recorded:
            trainer = StandInTrainer()
            callback = integration.watch(trainer, recorded.run)
            trainer.step(with_loss=False)
            trainer.step(with_loss=False)
            callback.on_train_end(None, trainer.state, None)
            turns = recorded.of("turn.recorded")
        self.assertEqual([turn["trainingStep"] for turn in turns], [0] * 4 + [1] * 4)
        self.assertNotIn("logprob", turns[0]["tokens"])

    def test_evaluations_are_left_out(self) -> None:
        with Recorded() as recorded:
            trainer = StandInTrainer()
            integration.watch(trainer, recorded.run)
            trainer.model.training = False
            trainer.step()
            self.assertEqual(recorded.of("turn.recorded"), [])

    def test_what_cannot_be_recorded_warns_and_does_not_stop_training(self) -> None:
        with Recorded() as recorded:
            trainer = StandInTrainer()
            integration.watch(trainer, recorded.run)
            trainer.reward_func_names = None  # type: ignore[assignment]
            with self.assertWarnsRegex(RuntimeWarning, "recredit could not record"):
                trainer.step()
            self.assertEqual(trainer.state.global_step, 1)

    def test_a_trainer_of_another_kind_is_refused_with_what_it_lacks(self) -> None:
        with Recorded() as recorded, self.assertRaisesRegex(TypeError, "_calculate_rewards"):
            integration.watch(SimpleNamespace(add_callback=print), recorded.run)

    def test_a_return_to_a_checkpoint_is_told(self) -> None:
        with Recorded() as recorded:
            callback = integration.RecreditCallback(recorded.run)
            for step in (0, 3):
                callback.on_train_begin(None, SimpleNamespace(global_step=step), None)
            self.assertEqual([event["toTrainingStep"] for event in recorded.of("run.rewound")], [2])

    def test_a_reward_function_records_what_it_judged(self) -> None:
        def length(prompts: list[Any], completions: list[Any], **_: Any) -> list[float | None]:
            return [None if completion == "" else float(len(completion)) for completion in completions]

        with Recorded() as recorded:
            judged = integration.logged_reward(length, recorded.run, num_generations=2)
            state = SimpleNamespace(global_step=4)
            said = judged(prompts=["a"] * 4, completions=["x", "xy", "", "z"], completion_ids=[[1], [1, 2], [], [3]], trainer_state=state)
            turns, ends = recorded.of("turn.recorded"), recorded.of("trajectory.ended")
        self.assertEqual(said, [1.0, 2.0, None, 1.0])
        self.assertEqual(judged.__name__, "length")
        self.assertEqual([end["outcomeReward"] for end in ends], said)
        self.assertEqual({turn["trainingStep"] for turn in turns}, {4})
        first, second = turns[0]["group"], turns[2]["group"]
        self.assertEqual([turn["group"] for turn in turns], [first, first, second, second])
        self.assertEqual(second, f"{first}-2")
        self.assertEqual(turns[1]["tokens"], {"tokenId": [1, 2]})
        self.assertEqual(json.dumps(turns[1]["action"]), '"xy"')


if __name__ == "__main__":
    unittest.main()
