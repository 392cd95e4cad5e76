"""What is recorded of verl's batches, with stand-ins of their shape; with torch's tensors where torch is installed."""

from __future__ import annotations

import importlib.util
import unittest
import warnings
from types import SimpleNamespace
from typing import Any

from recredit.integrations.verl import record_batch, recorded

from .stand_ins import Recorded, Tensor

WORDS = {5: "go", 6: "north", 7: "you", 8: "fell", 9: "up", 1: "where"}
TOKENIZER = SimpleNamespace(decode=lambda ids: " ".join(WORDS[token] for token in ids))


def a_batch(tensor: Any = Tensor, **rest: Any) -> Any:
    """Two rollouts: one of two turns with a tool's answer between them, one short."""
    columns = {
        "prompts": tensor([[0, 1], [0, 1]]),
        "responses": tensor([[5, 7, 8, 9], [6, 0, 0, 0]]),
        "response_mask": tensor([[1, 0, 0, 1], [1, 0, 0, 0]]),
        "attention_mask": tensor([[0, 1, 1, 1, 1, 1], [0, 1, 1, 0, 0, 0]]),
        "old_log_probs": tensor([[-0.5, -9.0, -9.0, -0.25], [-1.0, 0.0, 0.0, 0.0]]),
        "token_level_scores": tensor([[0.0, 0.0, 0.0, 1.0], [0.5, 0.0, 0.0, 0.0]]),
        "advantages": tensor([[1.5, 0.0, 0.0, 1.5], [-1.5, 0.0, 0.0, 0.0]]),
    }
    return SimpleNamespace(batch=columns, non_tensor_batch={"uid": ["u", "u"], "data_source": ["maze", "maze"]}, meta_info={}, **rest)


class Verl(unittest.TestCase):
    def check(self, batch: Any) -> None:
        with Recorded() as recorded_run:
            self.assertEqual(record_batch(recorded_run.run, batch, training_step=3, tokenizer=TOKENIZER), 2)
            turns, ends = recorded_run.of("turn.recorded"), recorded_run.of("trajectory.ended")
        self.assertEqual([(turn["group"], turn["trainingStep"]) for turn in turns], [("u", 3)] * 2)
        self.assertEqual([(turn["state"], turn["action"]) for turn in turns], [("where", "go you fell up"), ("where", "north")])
        tokens = {"tokenId": [5, 7, 8, 9], "mask": [1, 0, 0, 1], "logprob": [-0.5, -9, -9, -0.25], "loggedAdvantage": [1.5, 0, 0, 1.5]}
        self.assertEqual(turns[0]["tokens"], tokens)
        self.assertEqual(turns[1]["tokens"], {"tokenId": [6], "mask": [1], "logprob": [-1], "loggedAdvantage": [-1.5]})
        self.assertEqual([end["outcomeReward"] for end in ends], [1, 0.5])
        self.assertEqual(ends[0]["signals"], {"dataset": "maze"})

    def test_a_batch_without_its_padding(self) -> None:
        self.check(a_batch())

    @unittest.skipUnless(importlib.util.find_spec("torch"), "torch is not installed")
    def test_a_batch_of_real_tensors(self) -> None:
        import torch

        self.check(a_batch(torch.tensor))

    def test_the_hook_returns_what_it_wraps_and_counts_the_steps(self) -> None:
        def compute_advantage(data: Any, adv_estimator: str, gamma: float = 1.0) -> Any:
            return SimpleNamespace(**{**vars(data), "by": (adv_estimator, gamma)})

        with Recorded() as recorded_run:
            hooked = recorded(compute_advantage, recorded_run.run, TOKENIZER)
            self.assertEqual(hooked(a_batch(), "grpo", gamma=0.5).by, ("grpo", 0.5))
            hooked(a_batch(), "grpo")
            told = a_batch()
            told.meta_info = {"global_steps": 17}
            hooked(told, "grpo")
            self.assertEqual([turn["trainingStep"] for turn in recorded_run.of("turn.recorded")], [0, 0, 1, 1, 17, 17])

    def test_a_batch_of_another_shape_warns_and_training_goes_on(self) -> None:
        with Recorded() as recorded_run:
            hooked = recorded(lambda data: data, recorded_run.run)
            odd = SimpleNamespace(batch={}, non_tensor_batch={})
            with self.assertWarnsRegex(RuntimeWarning, "responses"):
                self.assertIs(hooked(odd), odd)

    def test_chat_prompts_and_batches_with_little_in_them(self) -> None:
        batch = a_batch()
        batch.batch = {"responses": batch.batch["responses"]}
        batch.non_tensor_batch = {"raw_prompt": [[{"role": "system", "content": "s"}, {"role": "user", "content": "where?"}]] * 2}
        with Recorded() as recorded_run, warnings.catch_warnings():
            warnings.simplefilter("error")
            record_batch(recorded_run.run, batch, training_step=0)
            turns, ends = recorded_run.of("turn.recorded"), recorded_run.of("trajectory.ended")
        self.assertEqual({turn["state"] for turn in turns}, {"user:where?"})
        self.assertEqual(turns[0]["group"], turns[1]["group"])
        self.assertNotIn("outcomeReward", ends[0])


if __name__ == "__main__":
    unittest.main()
