"""What is recorded of verl's batches: with verl's own step and queue where it is installed, and with stand-ins anywhere."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
import tempfile
import unittest
import warnings
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from recredit.integrations.verl import record_batch, recorded, watch

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

    def test_what_is_no_trainer_is_refused(self) -> None:
        with Recorded() as recorded_run, self.assertRaisesRegex(TypeError, "_compute_advantage"):
            watch(SimpleNamespace(), recorded_run.run)

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


class WithVerl(unittest.TestCase):
    """verl's own advantage steps, of both versions of its trainer; its rollouts need a GPU."""

    @classmethod
    def setUpClass(cls) -> None:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                import transfer_queue  # noqa: F401
                import verl.trainer.ppo.v1  # noqa: F401
        except ImportError as error:
            raise unittest.SkipTest(f"verl is not installed: tried with stand-ins only ({error})") from None

    def test_its_function_over_its_own_batch(self) -> None:
        import numpy
        import torch
        import verl.trainer.ppo.ray_trainer as ray_trainer
        from verl import DataProto

        columns = a_batch(torch.tensor).batch
        del columns["advantages"]
        columns["token_level_rewards"] = columns["token_level_scores"]
        batch = DataProto.from_dict(tensors=columns, non_tensors={"uid": numpy.array(["u", "u"], dtype=object)})
        batch.meta_info["global_steps"] = 7
        with Recorded() as recorded_run:
            answer = recorded(ray_trainer.compute_advantage, recorded_run.run, TOKENIZER)(batch, adv_estimator="grpo")
            turns, ends = recorded_run.of("turn.recorded"), recorded_run.of("trajectory.ended")
        self.assertEqual({turn["trainingStep"] for turn in turns}, {7})
        self.assertEqual([(turn["state"], turn["action"]) for turn in turns], [("where", "go you fell up"), ("where", "north")])
        for turn, computed in zip(turns, answer.batch["advantages"]):
            advantages = turn["tokens"]["loggedAdvantage"]
            self.assertEqual(advantages, computed[: len(advantages)].tolist())
        # mean 0.75, sample deviation 0.25 * sqrt(2)
        self.assertAlmostEqual(turns[0]["tokens"]["loggedAdvantage"][0], 0.25 / (0.25 * 2**0.5 + 1e-6), places=5)
        self.assertEqual([end["outcomeReward"] for end in ends], [1, 0.5])

    def test_the_trainer_of_version_1_over_its_own_queue(self) -> None:
        import ray
        import torch
        import transfer_queue
        from omegaconf import OmegaConf
        from verl.trainer.ppo.v1 import PPOTrainerSync
        from verl.utils.tensordict_utils import list_of_dict_to_tensordict

        def row(uid: str, prompt: list[int], ids: list[int], mask: list[int], score: float) -> dict[str, Any]:
            scores = [0.0] * (len(ids) - 1) + [score]
            return {
                "uid": uid, "prompts": torch.tensor(prompt), "responses": torch.tensor(ids),
                "response_mask": torch.tensor(mask), "rm_scores": torch.tensor(scores),
                "rollout_log_probs": torch.full((len(ids),), -0.5), "data_source": "maze",
                "raw_prompt": [{"role": "system", "content": "s"}, {"role": "user", "content": "where?"}],
            }  # fmt: skip

        rows = {
            "u_0_0": row("u", [1], [5, 7, 8, 9], [1, 0, 0, 1], 1.0),
            "u_1_0": row("u", [1], [6], [1], 0.0),
            "u_1_1": row("u", [1, 6], [5, 6], [1, 1], 0.0),
            "w_0_0": row("w", [1], [9], [1], 0.5),
            "w_0_0_padding_0": row("w", [1], [9], [1], 0.5),
        }
        tags = [{"is_padding": True} if "padding" in key else {} for key in rows]
        algorithm = {"use_kl_in_reward": False, "adv_estimator": "grpo", "gamma": 1.0, "lam": 1.0}
        config = OmegaConf.create({"algorithm": algorithm, "actor_rollout_ref": {"rollout": {"n": 2}}})

        class Trainer(PPOTrainerSync):  # type: ignore[misc]
            """As it is between two steps: its workers, which this step does not ask, would need a GPU."""

            def __init__(self) -> None:
                self.config, self.global_steps, self.tokenizer = config, 3, TOKENIZER

            on_step_end = None

        ray.init(num_cpus=8, include_dashboard=False, log_to_driver=False, configure_logging=False)
        try:
            transfer_queue.init()
            fields = list_of_dict_to_tensordict(list(rows.values()))
            batch = transfer_queue.kv_batch_put(keys=list(rows), fields=fields, tags=tags, partition_id="train")
            with Recorded() as recorded_run, warnings.catch_warnings():
                warnings.simplefilter("error", RuntimeWarning)
                watch(Trainer, lambda: recorded_run.run)
                Trainer()._compute_advantage(batch, {})
                turns, ends = recorded_run.of("turn.recorded"), recorded_run.of("trajectory.ended")
            answer = transfer_queue.kv_batch_get(keys=list(rows), partition_id="train", select_fields=["advantages"])
            computed = {key: row.tolist() for key, row in zip(rows, answer["advantages"].unbind())}
        finally:
            transfer_queue.close()
            ray.shutdown()
        said = [(turn["trajectory"], turn["group"], turn["trainingStep"], turn["state"], turn["action"]) for turn in turns]
        self.assertEqual(said, [
            ("u_0", "u", 3, "user:where?", "go you fell up"),
            ("u_1", "u", 3, "user:where?", "north"),
            ("u_1", "u", 3, "where north", "go north"),
            ("w_0", "w", 3, "user:where?", "up"),
        ])  # fmt: skip
        logged = [turn["tokens"]["loggedAdvantage"] for turn in turns]
        self.assertEqual(logged, [computed[key] for key in ("u_0_0", "u_1_0", "u_1_1", "w_0_0")])
        self.assertAlmostEqual(logged[0][0], 0.5 / (0.5**0.5 + 1e-6), places=5)
        self.assertEqual(turns[0]["tokens"]["mask"], [1, 0, 0, 1])
        self.assertEqual(turns[0]["tokens"]["rolloutLogprob"], [-0.5] * 4)
        self.assertEqual([(end["outcomeReward"], end["turnCount"], end["signals"]) for end in ends], [
            (1, 1, {"dataset": "maze"}), (0, 2, {"dataset": "maze"}), (0.5, 1, {"dataset": "maze"}),
        ])  # fmt: skip

    def test_the_module_of_the_guides_is_taken_by_verl(self) -> None:
        guides = Path(__file__).parents[4] / "docs/guides"
        for guide in ("trainers.md", "log-from-a-trainer.md"):
            module = (guides / guide).read_text().split("# recorded_verl.py")[1].split("```")[0]
            with self.subTest(guide), tempfile.TemporaryDirectory() as folder:
                Path(folder, "recorded_verl.py").write_text(module)
                path = os.pathsep.join([folder, str(Path(__file__).parents[2])])
                env = {**os.environ, "PYTHONPATH": path, "VERL_USE_EXTERNAL_MODULES": "recorded_verl"}
                asked = "import verl.trainer.ppo.v1 as v1; print(v1.PPOTrainerSync._compute_advantage.__wrapped__)"
                said = subprocess.run([sys.executable, "-W", "ignore", "-c", asked], env=env, capture_output=True, text=True)
                self.assertIn("PPOTrainer._compute_advantage", said.stdout, said.stderr[-2000:])


if __name__ == "__main__":
    unittest.main()
