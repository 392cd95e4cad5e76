"""Where trainers are: each module here knows one of them, and imports it only when it is used.

``trl`` watches a GRPOTrainer, ``verl`` a trainer of verl, ``agent_lightning`` is a hook of Agent Lightning's runners. What
they record never raises into training; what could not be recorded becomes a warning.
"""
