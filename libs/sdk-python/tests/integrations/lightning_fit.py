"""Agent Lightning's own trainer, as the guide sets it up, with an agent that asks a model's server at argv[2].

    python -m tests.integrations.lightning_fit SPOOL ENDPOINT
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

os.environ.update(LITELLM_LOCAL_MODEL_COST_MAP="True", AGENTOPS_LOGGING_TO_FILE="false")

import agentlightning
import openai

import recredit


@agentlightning.rollout
def agent(task: Any, llm: agentlightning.LLM) -> float:
    client = openai.OpenAI(base_url=llm.endpoint, api_key="none", max_retries=0)
    client.chat.completions.create(model="tiny", messages=[{"role": "user", "content": task["question"]}], logprobs=True)
    return float(task["question"] == "easy")


def main(spool: str, endpoint: str) -> None:
    guide = (Path(__file__).parents[4] / "docs/guides/trainers.md").read_text()
    example = guide.split("## Agent Lightning")[1].split("```python\n")[1].split("```")[0]
    run = recredit.start_run(project="p", name="r", offline=True, spool=spool)
    told: dict[str, Any] = {"run": run, "algorithm": agentlightning.Baseline(polling_interval=0.2)}
    exec(compile(example, "guide", "exec"), told)
    told["trainer"].initial_resources = {"llm": agentlightning.LLM(endpoint=endpoint, model="tiny")}
    questions = [{"question": question} for question in ("easy", "hard", "easy")]
    told["trainer"].fit(agent, train_dataset=questions, val_dataset=[{"question": "unseen"}])


if __name__ == "__main__":
    main(*sys.argv[1:])
