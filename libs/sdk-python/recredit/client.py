"""Asking a platform: runs, analyses and their credit in columns, estimates in the loop."""

from __future__ import annotations

import http.client
import json
import random
import time
import urllib.error
import urllib.parse
import warnings
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from .backoff import BACKOFF, wait_seconds
from .estimate import ESTIMATE_QUERY, Estimate, estimate_of, input_text
from .frame import Frame
from .json_text import json_text, utf8
from .platform_client import Answer, request
from .problem import Problem, RecreditError, no_answer, outcome_of
from .progress import ProgressLine
from .settings import connection_of

__all__ = ["Analysis", "Client", "StoredRun", "estimate"]

_PATIENCE: Final = 60.0
_RUN = "id name project state position config progress { trajectoryCount finishedCount turnCount lastTrainingStep successRate meanOutcomeReward }"
_ANALYSIS = """id state failure progress { total done cached failed secondsLeft }
  estimators { id label version params warnings inputsMissing { path rows of recordedAs } failures { reason shards } }"""


class Client:
    """Whoever asks. Every question waits for its answer, and raises ``RecreditError`` where the platform refuses it."""

    def __init__(self, url: str | None = None, api_key: str | None = None, *, timeout: float = 60.0) -> None:
        """
        :param url: default RECREDIT_URL, else http://127.0.0.1:4000
        :param api_key: default RECREDIT_API_KEY, else the first key in RECREDIT_HOME
        :param timeout: of one request, in seconds
        """
        self._connection = connection_of(url, api_key, timeout)

    def graphql(self, query: str, variables: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """The data of an answer without errors. docs/api/schema.graphql says what there is."""
        return self._graphql(query, json_text(dict(variables or {})))

    def run(self, run: str) -> StoredRun:
        """:param run: its id, or its name where only one of the projects that you see has it"""
        said = self.graphql(f"query ($run: ID!) {{ run(id: $run) {{ {_RUN} }} }}", {"run": run})["run"]
        if said is None:
            raise RecreditError(Problem(404, "run.unknown", f"no run {run} among those you see"))
        return StoredRun(self, said)

    def analyze(
        self,
        run: str | StoredRun | Sequence[str | StoredRun],
        estimators: Iterable[str | tuple[str, Mapping[str, Any]] | Mapping[str, Any]],
        *,
        first_step: int | None = None,
        last_step: int | None = None,
    ) -> Analysis:
        """Starts to compute credit; what was computed before is not computed again.

        :param run: one run, or several of one project
        :param estimators: ids; or an id and its params, as a pair or as ``{"id": ..., "params": ...}``
        :param first_step: of the training steps that are looked at; both ends belong to the range
        """
        runs = [run] if isinstance(run, (str, StoredRun)) else list(run)
        wanted = {
            "runs": [{"run": each.id if isinstance(each, StoredRun) else each} for each in runs],
            "estimators": [_estimator_input(each) for each in estimators],
            "firstStep": first_step,
            "lastStep": last_step,
        }
        mutation = f"mutation ($input: StartAnalysisInput!) {{ startAnalysis(input: $input) {{ {_ANALYSIS} }} }}"
        return Analysis(self, self.graphql(mutation, {"input": wanted})["startAnalysis"])

    def analysis(self, id: str) -> Analysis:
        """One that was started before."""
        return Analysis(self, self._analysis(id))

    def estimate(
        self, trajectories: Iterable[Mapping[str, Any]], estimator: str, params: Mapping[str, Any] | None = None
    ) -> Estimate:
        """What an estimator says of trajectories that are sent along; nothing is stored.

        :param trajectories: each with ``group``, ``turns`` and, by what the estimator needs, ``outcome_reward``,
            ``success``, ``signals``; a turn has ``state``, ``action``, ``reward``, ``signals``, ``tokens``. ``id`` is
            the place in the list where it is not said, ``training_step`` 0. No statistic crosses a training step.
        :param params: those not named have their default
        :raises RecreditError: ``signals.missing`` where the estimator lacks something, ``params.invalid``, ...
        :raises Unsendable: for what no trajectory may hold, with its place
        """
        return estimate_of(self._graphql(ESTIMATE_QUERY, input_text(trajectories, estimator, params))["estimate"])

    def _analysis(self, id: str) -> dict[str, Any]:
        said = self.graphql(f"query ($id: ID!) {{ analysis(id: $id) {{ {_ANALYSIS} }} }}", {"id": id})["analysis"]
        if said is None:
            raise RecreditError(Problem(404, "analysis.unknown", f"no analysis {id} among those you see"))
        return dict(said)

    def _frame(self, path: str) -> Frame:
        answer = self._answer("GET", path, {}, None)
        done, _, total = (answer.headers.get("recredit-shards") or "").partition("/")
        return Frame(answer.body, (int(done), int(total)) if done and total else None)

    def _graphql(self, query: str, variables: str) -> dict[str, Any]:
        body = utf8(f'{{"query":{json_text(query)},"variables":{variables}}}')
        headers = {"Content-Type": "application/json", "Accept": "application/json"}
        until = time.monotonic() + _PATIENCE
        while True:
            said = json.loads(self._answer("POST", "/graphql", headers, body).body)
            if not said.get("errors"):
                return dict(said["data"])
            [error, *_] = said["errors"]
            extensions = error.get("extensions") or {}
            details = extensions.get("details") or {}
            status = extensions.get("status")
            if status not in (429, 503) or time.monotonic() > until:
                code = str(extensions.get("code", "query.failed"))
                raise RecreditError(Problem(status, code, str(error["message"]), details))
            time.sleep(float(details.get("retryAfterSeconds", 1)))

    def _answer(self, method: str, path: str, headers: Mapping[str, str], body: bytes | None) -> Answer:
        """Asks again while the platform asks to wait, for a minute."""
        until = time.monotonic() + _PATIENCE
        for attempt in range(1, 1_000):
            try:
                answer = request(self._connection, method, path, headers, body)
            except (OSError, http.client.HTTPException) as error:
                reason = error.reason if isinstance(error, urllib.error.URLError) else error
                outcome = no_answer(f"{self._connection.url} does not answer: {reason}")
                raise RecreditError(outcome.problem or Problem(None, "no.answer", "")) from error
            if 200 <= answer.status < 300:
                return answer
            outcome = outcome_of(answer.status, answer.body, answer.headers.get("retry-after"), time.time())
            wait = wait_seconds(attempt, outcome.after, random.random(), BACKOFF)
            if answer.status not in (429, 503) or time.monotonic() + wait > until:
                break
            time.sleep(wait)
        raise RecreditError(outcome.problem or Problem(answer.status, f"http.{answer.status}", ""))


class StoredRun:
    """A run as the platform has it."""

    def __init__(self, client: Client, said: Mapping[str, Any]) -> None:
        self._client = client
        self._said = said

    @property
    def id(self) -> str:
        return str(self._said["id"])

    @property
    def name(self) -> str:
        return str(self._said["name"])

    @property
    def project(self) -> str:
        return str(self._said["project"])

    @property
    def state(self) -> str:
        """``running``, ``completed``, ``failed``, ``stopped`` or ``erased``"""
        return str(self._said["state"]).lower()

    @property
    def position(self) -> int:
        """events that are projected: what is later is not seen yet"""
        return int(self._said["position"])

    @property
    def config(self) -> Mapping[str, Any]:
        return dict(self._said["config"])

    @property
    def progress(self) -> Mapping[str, Any]:
        return dict(self._said["progress"])

    def refresh(self) -> StoredRun:
        """The same run, as it is now."""
        self._said = self._client.run(self.id)._said
        return self

    def wait(self, position: int, timeout: float = 60.0) -> StoredRun:
        """Waits until what was recorded before a position is seen: ``run.end().position`` says which.

        :raises TimeoutError: after so many seconds
        """
        until = time.monotonic() + timeout
        while self.refresh().position < position:
            if time.monotonic() > until:
                raise TimeoutError(f"{self.name}: {self.position} of {position} events are projected after {timeout} s")
            time.sleep(0.1)
        return self

    def trajectories(self, steps: int | tuple[int | None, int | None] | str | None = None) -> Frame:
        """Finished trajectories, a row per turn.

        :param steps: one training step; a first and a last one, both included, None: open; or ``"A..B"``. Default: all
        """
        if isinstance(steps, tuple):
            first, last = steps
            steps = f"{'' if first is None else first}..{'' if last is None else last}"
        query = "" if steps is None else f"?steps={urllib.parse.quote(str(steps))}"
        return self._client._frame(f"/v1/runs/{urllib.parse.quote(self.id, safe='')}/trajectories.arrow{query}")

    def diagnostics(self) -> Frame:
        """What the diagnostics measured: a row per training step, diagnostic and value.

        A row without a training step is of the run as a whole. Without rows: nothing is diagnosed yet.
        """
        return self._table("diagnostics")

    def alerts(self) -> Frame:
        """Alerts of the diagnostics, newest first; one without ``closedStep`` stands."""
        return self._table("alerts")

    def plan(self) -> Frame:
        """Where the next rollouts would best be spent: a row per task, restart state and way to fail, told apart by ``kind``."""
        return self._table("plan")

    def _table(self, name: str) -> Frame:
        return self._client._frame(f"/v1/runs/{urllib.parse.quote(self.id, safe='')}/{name}.arrow")

    def analyze(
        self, estimators: Iterable[str | tuple[str, Mapping[str, Any]] | Mapping[str, Any]], **options: Any
    ) -> Analysis:
        """See ``Client.analyze``."""
        return self._client.analyze(self, estimators, **options)

    def __repr__(self) -> str:
        return f"StoredRun({self.project}/{self.name}, {self.state})"


class Analysis:
    """Credit of some runs by some estimators, as of a position."""

    def __init__(self, client: Client, said: Mapping[str, Any]) -> None:
        self._client = client
        self._said = said

    @property
    def id(self) -> str:
        return str(self._said["id"])

    @property
    def state(self) -> str:
        """``planning``, ``running``, ``completed``, ``failed`` or ``cancelled``"""
        return str(self._said["state"]).lower()

    @property
    def progress(self) -> Mapping[str, Any]:
        """shards: ``total``, ``done``, ``cached``, ``failed``; ``secondsLeft``"""
        return dict(self._said["progress"])

    @property
    def estimators(self) -> list[dict[str, Any]]:
        """each with its ``label``, ``params``, ``warnings``, ``inputsMissing`` and ``failures``"""
        return [dict(estimator) for estimator in self._said["estimators"]]

    def refresh(self) -> Analysis:
        """The same analysis, as it is now."""
        self._said = self._client._analysis(self.id)
        return self

    def wait(self, timeout: float | None = None, *, progress: bool | None = None) -> Analysis:
        """Waits until it has ended, with a line that says how far it is.

        :param timeout: in seconds; None: as long as it takes
        :param progress: None: where there is a terminal or a notebook
        :raises TimeoutError: it goes on meanwhile
        :raises RecreditError: ``analysis.failed``, ``analysis.cancelled``
        """
        until = None if timeout is None else time.monotonic() + timeout
        line = ProgressLine("analysis", progress)
        pause = 0.05
        try:
            while True:
                said = self.progress
                line.update(said["done"], said["total"], said["secondsLeft"])
                if self.state not in ("planning", "running"):
                    break
                if until is not None and time.monotonic() > until:
                    raise TimeoutError(f"analysis {self.id} is {self.state} after {timeout} s")
                time.sleep(pause)
                pause = min(1.0, pause * 1.5)
                self.refresh()
        finally:
            line.end()
        if self.state != "completed":
            why = str(self._said["failure"] or f"analysis {self.id} was {self.state}")
            raise RecreditError(Problem(None, f"analysis.{self.state}", why))
        return self

    def cancel(self) -> Analysis:
        """What is being computed ends by itself and is kept."""
        self._client.graphql("mutation ($id: ID!) { cancelAnalysis(id: $id) { id } }", {"id": self.id})
        return self.refresh()

    def credit(self) -> Frame:
        """A row per turn, with a column per estimator under its label. Warns where it is not all there is."""
        frame = self._client._frame(f"/v1/analyses/{self.id}/credit.arrow")
        if frame.shards and frame.shards[0] < frame.shards[1]:
            text = f"analysis {self.id} is {self.state}: this is the credit of {frame.shards[0]} of {frame.shards[1]} shards"
            warnings.warn(text, stacklevel=2)
        return frame

    def comparison(self) -> dict[str, Any] | None:
        """Every number that docs/comparison.md describes; None until the analysis has ended."""
        query = "query ($id: ID!) { analysis(id: $id) { comparison { detail } } }"
        said = self._client.graphql(query, {"id": self.id})["analysis"]["comparison"]
        return said and dict(said["detail"])

    def __repr__(self) -> str:
        return f"Analysis({self.id}, {self.state})"


def _estimator_input(estimator: str | tuple[str, Mapping[str, Any]] | Mapping[str, Any]) -> dict[str, Any]:
    if isinstance(estimator, str):
        return {"id": estimator}
    if isinstance(estimator, Mapping):
        return dict(estimator)
    id, params = estimator
    return {"id": id, "params": dict(params)}


def estimate(
    trajectories: Iterable[Mapping[str, Any]],
    estimator: str,
    params: Mapping[str, Any] | None = None,
    *,
    client: Client | None = None,
) -> Estimate:
    """See ``Client.estimate``: advantages in the loop, of the platform that the environment names.

    ::

        advantages = recredit.estimate(rollouts, "rloo").trajectory_advantage
    """
    return (client or Client()).estimate(trajectories, estimator, params)
