"""What is recorded of Agent Lightning: with its own runner and store where it is installed, and of events anywhere."""

from __future__ import annotations

import asyncio
import contextlib
import http.server
import importlib.util
import json
import os
import socket
import subprocess
import sys
import tempfile
import threading
import unittest
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

os.environ.update(LITELLM_LOCAL_MODEL_COST_MAP="True", AGENTOPS_LOGGING_TO_FILE="false")  # neither asks nor writes anything

from recredit.integrations.agent_lightning import Forwarder, RolloutHook

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


class Model(http.server.BaseHTTPRequestHandler):
    """Answers as a server of the OpenAI API that gives token ids as vLLM does: first with a call, then with its result."""

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
        heard = asked["messages"][-1]
        call = {"id": "c", "type": "function", "function": {"name": "add", "arguments": '{"b": 3, "a": 2}'}}
        answers: dict[str, Any] = {"user": {"content": None, "tool_calls": [call]}, "tool": {"content": f"It is {heard['content']}."}}
        logprob = {"top_logprobs": [], "bytes": None}
        choice = {
            "index": 0, "finish_reason": "stop", "message": {"role": "assistant", **answers[heard["role"]]},
            "token_ids": [5, 6], "logprobs": {"content": [{"token": "a", "logprob": -0.5, **logprob}, {"token": "b", "logprob": -0.25, **logprob}]},
        }  # fmt: skip
        answer = {
            "id": f"chat-{len(asked['messages'])}", "object": "chat.completion", "created": 1, "model": "tiny",
            "prompt_token_ids": [1, 2, 3], "choices": [choice],
            "usage": {"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5},
        }  # fmt: skip
        body = json.dumps(answer).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        pass


@contextlib.contextmanager
def answering() -> Iterator[str]:
    """The address of a server with the model."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Model)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1"
    finally:
        server.shutdown()
        server.server_close()


@unittest.skipUnless(importlib.util.find_spec("agentlightning"), "agentlightning is not installed: only events were forwarded")
class WithAgentLightning(unittest.TestCase):
    def rollouts(self, tracer: Any, inputs: list[Any], **options: Any) -> tuple[list[Any], list[Any]]:
        """What is recorded of rollouts by Agent Lightning's own runner over its own store: turns, ends."""
        import agentlightning
        import openai

        @agentlightning.rollout
        def agent(task: Any, llm: agentlightning.LLM) -> float:
            client = openai.OpenAI(base_url=llm.endpoint, api_key="none", max_retries=0)
            said: list[Any] = [{"role": "system", "content": "Be short."}, {"role": "user", "content": task["question"]}]
            answer = client.chat.completions.create(model="tiny", messages=said, logprobs=True).choices[0].message
            agentlightning.emit_reward(0.25)
            if "unlucky" in task:
                raise ValueError("unlucky")
            said += [answer.model_dump(exclude_none=True), {"role": "tool", "tool_call_id": "c", "content": "5"}]
            client.chat.completions.create(model="tiny", messages=said, logprobs=True)
            return 1.0

        async def run(hook: RolloutHook, endpoint: str) -> None:
            store = agentlightning.InMemoryLightningStore()
            runner = agentlightning.LitAgentRunner(tracer=tracer)
            with runner.run_context(agent=agent, store=store, hooks=[hook]):
                for mode, task in inputs:
                    if mode == "update":
                        await store.add_resources({"llm": agentlightning.LLM(endpoint=endpoint, model="tiny")})
                        continue
                    try:
                        await runner.step(task, mode=mode)
                    except ValueError as error:
                        assert str(error) == "unlucky"

        with answering() as endpoint, Recorded() as recorded, warnings.catch_warnings():
            warnings.simplefilter("error", RuntimeWarning)
            asyncio.run(run(RolloutHook(lambda: recorded.run, **options), endpoint))
            return recorded.of("turn.recorded"), recorded.of("trajectory.ended")

    def test_its_runner_records_what_its_adapter_trains_on(self) -> None:
        import agentlightning

        task = {"question": "2 + 3?", "data_id": "1"}
        turns, ends = self.rollouts(agentlightning.AgentOpsTracer(), [
            ("update", None), ("train", task), ("train", {**task, "data_id": "2"}), ("val", task),
            ("train", {"question": "2 + 3?", "unlucky": True}), ("update", None), ("train", task),
        ])  # fmt: skip
        self.assertEqual([(end["trainingStep"], end["turnCount"], end["outcomeReward"]) for end in ends], [
            (0, 2, 1), (0, 2, 1), (0, 1, 0.25), (1, 2, 1),
        ])  # fmt: skip
        self.assertEqual([end.get("success") for end in ends], [True, True, None, True])
        groups = [end["group"] for end in ends]
        self.assertEqual([group == groups[0] for group in groups], [True, True, False, True])
        first, second = turns[:2]
        self.assertEqual((first["state"], first["action"], first["reward"]), ("user:2 + 3?", 'add{"a":2,"b":3}', 0.25))
        self.assertEqual((second["state"], second["action"], second["reward"]), ("tool:5", "respond:It is 5.", 1))
        self.assertEqual(first["tokens"], {"rolloutLogprob": [-0.5, -0.25], "tokenId": [5, 6]})
        self.assertEqual(first["signals"], {"policy": "tiny"})

    def test_a_training_step_that_the_user_knows(self) -> None:
        import agentlightning

        inputs = [("update", None), ("train", {"question": "2 + 3?"})]
        _, ends = self.rollouts(agentlightning.AgentOpsTracer(), inputs, training_step=lambda rollout: 17)
        self.assertEqual([end["trainingStep"] for end in ends], [17])

    def test_the_example_of_the_guide_records_what_the_runners_of_a_trainer_do_in_processes_of_their_own(self) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            env = {**os.environ, "AGL_SERVER_PORT": str(free.getsockname()[1])}
        with answering() as endpoint, tempfile.TemporaryDirectory() as spool:
            asked = [sys.executable, "-W", "ignore", "-m", "tests.integrations.lightning_fit", spool, endpoint]
            folder = Path(__file__).parents[2]
            ended = subprocess.run(asked, cwd=folder, env=env, capture_output=True, text=True, timeout=300)
            files = sorted(Path(spool).glob("*/*.ndjson"))
            events = [json.loads(line) for file in files for line in file.read_bytes().splitlines()]
        self.assertNotIn("could not record", ended.stderr)
        turns = [event for event in events if event["type"] == "turn.recorded"]
        ends = [event for event in events if event["type"] == "trajectory.ended"]
        self.assertEqual(sorted(end["outcomeReward"] for end in ends), [0, 1, 1], ended.stderr[-3000:])
        self.assertEqual(len({end["group"] for end in ends}), 2)
        self.assertEqual(sorted(turn["state"] for turn in turns), ["user:easy", "user:easy", "user:hard"])
        self.assertEqual({turn["action"] for turn in turns}, {'add{"a":2,"b":3}'})


if __name__ == "__main__":
    unittest.main()
