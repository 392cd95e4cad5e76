"""What became of a run's events."""

from __future__ import annotations

from dataclasses import dataclass

from .problem import Problem

__all__ = ["RunReport"]


@dataclass(frozen=True)
class RunReport:
    """``str(report)`` says it in a sentence or two."""

    run: str | None
    """the run's id; None: not created yet"""
    project: str
    name: str
    producer: str
    spool: str
    """the producer's folder; removed once all of it is in the log"""
    accepted: int
    """events that entered the spool"""
    sent: int
    """events that the log has, ``duplicates`` of them since an earlier time"""
    duplicates: int
    unsent: int
    """events that wait in the spool"""
    refused: int
    """events that the platform refused for their content; they lie in the spool with the reason"""
    dropped: int
    """events that never entered the spool because of what they held, or because it could not be written"""
    back_pressure: int
    """events that never entered the spool because it was full"""
    position: int | None
    """the run's position after the last acknowledged event"""
    problem: Problem | None
    """why something is unsent or refused"""
    reasons: tuple[str, ...]
    """why events were dropped: the first twenty different reasons"""

    def __str__(self) -> str:
        because = f" ({self.problem.detail})" if self.problem else ""
        sentences = [f"{self.name}: {self.sent} events are in the log."]
        if self.unsent:
            sentences.append(f"{self.unsent} are still unsent{because}; `recredit sync {self.spool}` delivers them.")
        if self.refused:
            sentences.append(f"{self.refused} were refused{because}; they lie in {self.spool}.")
        if self.dropped:
            sentences.append(f"{self.dropped} were not recorded: {'; '.join(self.reasons)}.")
        if self.back_pressure:
            sentences.append(f"{self.back_pressure} were not recorded because the spool was full.")
        return " ".join(sentences)
