"""Records what an LLM agent does while it is trained, and reads the credit back.

::

    import recredit

    run = recredit.start_run(project="alfworld", name="grpo-7b", config={"lr": 1e-6})
    trajectory = run.trajectory(group="find-apple", training_step=0)
    trajectory.turn(state="You are in the hall.", action="go north", tokens={"logprob": logprobs})
    trajectory.end(outcome_reward=1.0, success=True)
    run.training_step(0, {"loss": 0.1})
    print(run.end())
"""

from .client import Analysis, Client, StoredRun, estimate
from .estimate import Estimate
from .frame import Frame
from .json_text import ABSENT, Unsendable
from .offline import Offline, offline
from .problem import Problem, RecreditError
from .receipt import Receipt
from .run import Run
from .run_report import RunReport
from .sketch import Sketch, sketch
from .start_run import start_run
from .sync import SyncedProducer, SyncReport, sync
from .trajectory import Trajectory

__all__ = [
    "ABSENT",
    "Analysis",
    "Client",
    "Estimate",
    "Frame",
    "Offline",
    "Problem",
    "Receipt",
    "RecreditError",
    "Run",
    "RunReport",
    "Sketch",
    "StoredRun",
    "SyncReport",
    "SyncedProducer",
    "Trajectory",
    "Unsendable",
    "estimate",
    "offline",
    "sketch",
    "start_run",
    "sync",
]
__version__ = "0.1.0"
