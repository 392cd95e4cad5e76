"""What is forwarded of Agent Lightning's events."""

from __future__ import annotations

import unittest
from typing import Any

from recredit.integrations.agent_lightning import Forwarder

from .stand_ins import Recorded


def request(rollout: str, messages: list[dict[str, Any]], answer: dict[str, Any], **rest: Any) -> dict[str, Any]:
    choice = {"message": answer, "token_ids": [4, 5], "logprobs": {"content": [{"logprob": -0.5}, {"logprob": -1.5}]}}
    data = {"model": "m", "model_version": 3, "request": {"messages": messages}, "response": {"choices": [choice]}, **rest}
    return {"event_type": "model_request", "rollout_id": rollout, "attempt_id": "a", "timestamp": 1.0, "data": data}


def reward(rollout: str, value: float | None) -> dict[str, Any]:
    return {"event_type": "reward", "rollout_id": rollout, "attempt_id": "a", "timestamp": 2.0, "data": {"value": value}}


ASKED = [{"role": "system", "content": "Be short."}, {"role": "user", "content": "Where?"}]
CALL = {"role": "assistant", "tool_calls": [{"function": {"name": "find", "arguments": '{"b": 1, "a": 2}'}}]}
HEARD = [*ASKED, CALL, {"role": "tool", "content": "in the hall"}]
ANSWER = {"role": "assistant", "content": "In the hall."}


class AgentLightning(unittest.TestCase):
    def test_requests_are_turns_and_rewards_belong_to_the_turn_before_them(self) -> None:
        with Recorded() as recorded:
            with Forwarder(recorded.run) as forward:
                forward(request("r", ASKED, CALL))
                forward(request("s", ASKED, ANSWER))
                forward(reward("r", 0.25))
                forward(reward("r", 0.5))
                forward(request("r", HEARD, ANSWER, latency_ms=12.5, finish_reason="stop"))
                forward(reward("r", 1))
                forward.end("r", "a")
            turns, ends = recorded.of("turn.recorded"), recorded.of("trajectory.ended")
        first, second = [turn for turn in turns if turn["trajectory"] == "r-a"]
        self.assertEqual((first["state"], first["action"], first["reward"]), ("user:Where?", 'find{"a":2,"b":1}', 0.75))
        self.assertEqual((second["state"], second["action"], second["reward"]), ("tool:in the hall", "respond:In the hall.", 1))
        self.assertEqual(second["signals"], {"policy": "m", "modelVersion": 3, "latencyMs": 12.5, "ended": "stop"})
        self.assertEqual(first["tokens"], {"rolloutLogprob": [-0.5, -1.5], "tokenId": [4, 5]})
        self.assertEqual({turn["trainingStep"] for turn in turns}, {3})
        self.assertEqual(len({turn["group"] for turn in turns}), 1)
        by_id = {end["trajectory"]: end for end in ends}
        self.assertEqual((by_id["r-a"]["outcomeReward"], by_id["r-a"]["success"], by_id["r-a"]["turnCount"]), (1, True, 2))
        self.assertNotIn("outcomeReward", by_id["s-a"])

    def test_what_is_no_turn_is_counted_and_what_is_broken_warns(self) -> None:
        with Recorded() as recorded:
            forward = Forwarder(recorded.run)
            forward(reward("nobody", 1))
            forward({"event_type": "log", "rollout_id": "r", "data": {}})
            forward(request("r", ASKED, {}))
            self.assertEqual(sum(forward.skipped.values()), 3)
            with self.assertWarnsRegex(RuntimeWarning, "event_type"):
                forward({})
            forward.close()
            self.assertEqual(recorded.of("turn.recorded", "trajectory.ended"), [])


if __name__ == "__main__":
    unittest.main()
