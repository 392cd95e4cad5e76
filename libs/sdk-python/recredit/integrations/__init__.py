"""Where trainers are: each module here knows one of them, and imports it only when it is used.

``trl`` watches a GRPOTrainer, ``verl`` records batches of verl, ``agent_lightning`` forwards the events of Agent
Lightning. What they record never raises into training; what could not be recorded is warned of once.
"""
