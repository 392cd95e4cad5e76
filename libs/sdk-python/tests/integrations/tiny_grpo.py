"""A GRPOTrainer on a tiny randomly initialised model, on the processor: the real thing, small. Needs torch and trl."""

from __future__ import annotations

from typing import Any

WORDS = [f"w{i}" for i in range(60)]
PROMPTS = [" ".join(WORDS[i : i + 3]) for i in range(8)]


def tiny_trainer(folder: str, steps: int = 3, **settings: Any) -> Any:
    """A trainer of ``steps`` training steps over groups of four completions of at most eight tokens."""
    import torch
    from datasets import Dataset
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast
    from trl import GRPOConfig, GRPOTrainer

    torch.manual_seed(0)
    vocabulary = {word: i for i, word in enumerate(["<pad>", "<eos>", "<unk>", *WORDS])}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    fast = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, pad_token="<pad>", eos_token="<eos>", unk_token="<unk>", padding_side="left"
    )
    config = LlamaConfig(
        vocab_size=len(vocabulary), hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=4,
        max_position_embeddings=64, pad_token_id=0, eos_token_id=1, bos_token_id=None,
    )  # fmt: skip
    arguments = {
        "output_dir": folder, "max_steps": steps, "per_device_train_batch_size": 8, "num_generations": 4,
        "max_completion_length": 8, "logging_steps": 1, "report_to": [], "use_cpu": True, "bf16": False,
        "save_strategy": "no", "disable_tqdm": True, "learning_rate": 1e-3, "reward_weights": [1.0, 0.5], **settings,
    }  # fmt: skip
    return GRPOTrainer(
        model=LlamaForCausalLM(config),
        reward_funcs=[many_small, short],
        args=GRPOConfig(**arguments),
        train_dataset=Dataset.from_dict({"prompt": PROMPTS}),
        processing_class=fast,
    )


def many_small(prompts: list[str], completions: list[str], **_: Any) -> list[float]:
    """The share of words with a low number."""
    words = [completion.split() for completion in completions]
    return [sum(1 for word in some if len(word) == 2) / max(len(some), 1) for some in words]


def short(prompts: list[str], completions: list[str], **_: Any) -> list[float | None]:
    """Says nothing of completions with an even number of words."""
    counts = [len(completion.split()) for completion in completions]
    return [None if count % 2 == 0 else 1.0 - count / 8 for count in counts]
