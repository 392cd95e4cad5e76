import type { CheckpointFields } from '#lib/sdk';
import type { Signals, TokenColumns } from '#lib/protocol';

/** What the trainer needs of a run; the SDK's run has it. */
export interface RunPort {
  trajectory(start: { id?: string; group: string; trainingStep: number }): TrajectoryPort;
  checkpoint(checkpoint: CheckpointFields): unknown;
  trainingStep(trainingStep: number, metrics: Readonly<Record<string, number | null>>): unknown;
}

export interface TrajectoryPort {
  readonly id: string;
  turn(turn: { state: string; action: string; reward: number; signals: Signals; tokens: TokenColumns }): unknown;
  end(end: { outcomeReward: number; success: boolean; signals: Signals }): unknown;
}
