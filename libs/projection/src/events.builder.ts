import type { LoggedEvent } from '#lib/event-log';
import type { RunEvent } from '#lib/protocol';

type Of<Type extends RunEvent['type']> = Omit<Extract<RunEvent, { type: Type }>, 'type' | 'at'>;

const AT = '2026-01-02T03:04:05.678Z';

/** Events as a producer sends them; where nothing else is said, of group g in training step 0. For specs. */
export const anEvent = {
  turn: (trajectory: string, turn: number, more: Partial<Of<'turn.recorded'>> = {}): RunEvent => ({
    type: 'turn.recorded',
    at: AT,
    trajectory,
    group: 'g',
    trainingStep: 0,
    turn,
    state: `state ${turn}`,
    action: `action ${turn}`,
    ...more,
  }),
  end: (trajectory: string, more: Partial<Of<'trajectory.ended'>> = {}): RunEvent => ({
    type: 'trajectory.ended',
    at: AT,
    trajectory,
    group: 'g',
    trainingStep: 0,
    ...more,
  }),
  whole: (id: string, turns: number, more: Partial<Of<'trajectory.recorded'>> = {}): RunEvent => ({
    type: 'trajectory.recorded',
    at: AT,
    id,
    group: 'g',
    trainingStep: 0,
    turns: Array.from({ length: turns }, (_, turn) => ({ state: `state ${turn}`, action: `action ${turn}` })),
    ...more,
  }),
  step: (trainingStep: number, metrics: Record<string, number | null> = {}): RunEvent => ({
    type: 'trainingStep.recorded',
    at: AT,
    trainingStep,
    metrics,
  }),
  annotation: (trajectory: string, more: Partial<Of<'annotation.recorded'>> = {}): RunEvent => ({
    type: 'annotation.recorded',
    at: AT,
    trajectory,
    annotator: 'judge',
    ...more,
  }),
  checkpoint: (trainingStep: number, more: Partial<Of<'checkpoint.recorded'>> = {}): RunEvent => ({
    type: 'checkpoint.recorded',
    at: AT,
    trainingStep,
    sketch: [0.5, -2],
    ...more,
  }),
  rewound: (toTrainingStep: number): RunEvent => ({ type: 'run.rewound', at: AT, toTrainingStep }),
  ended: (more: Partial<Of<'run.ended'>> = {}): RunEvent => ({ type: 'run.ended', at: AT, ...more }),
  analysis: (analysis: string): RunEvent => ({ type: 'analysis.requested', at: AT, analysis, request: {} }),
};

/** Events at the positions they would have in the log. */
export function logged(events: readonly RunEvent[], firstPosition = 0): LoggedEvent[] {
  const receivedAt = new Date('2026-02-03T04:05:06.789Z');
  return events.map((event, i) => ({ position: firstPosition + i, event, receivedAt }));
}
