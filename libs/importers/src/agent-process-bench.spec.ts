import { globSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { countsOf, hasShared, ownFile, readImport, sharedFile } from '../../../test/support/read-import.js';

const OWN = [ownFile('agent-process-bench/rollouts.jsonl'), ownFile('agent-process-bench/judge.jsonl')];

describe('agent-process-bench', () => {
  it('has a trajectory per sample of a question, and a turn per assistant message', async () => {
    const { trajectories } = await readImport('agent-process-bench', OWN);
    expect(countsOf(trajectories)).toMatchObject({ trajectories: 3, groups: 2, mixed: 1, turns: 6 });
    expect(trajectories[0]).toMatchObject({
      id: 'own_quiz:0:0',
      group: '0',
      outcomeReward: 1,
      success: true,
      turns: [
        { state: 'user:When was the tower finished?', action: 'search{"query":"tower"}' },
        { state: 'tool:Finished in 1889.', action: 'respond:1889' },
      ],
      prompt: 'Answer the question.',
      source: { answer_text: '1889', ground_truth: { target: ['1889'] } },
    });
    expect(trajectories[1]).toMatchObject({ outcomeReward: 0, success: false });
  });

  it('keeps the calls of one message in one turn, with what was written beside them and all that came back', async () => {
    const { trajectories } = await readImport('agent-process-bench', OWN);
    expect(trajectories[2]).toMatchObject({
      signals: { toolCalls: 2 },
      turns: [
        { action: 'search{"query":"bridge"}\nsearch{"query":"builder"}', signals: { thought: 'I look it up.' } },
        { state: 'tool:A bridge.\ntool:Built by Ada.' },
      ],
    });
  });

  it("makes annotations of people's labels", async () => {
    const { events } = await readImport('agent-process-bench', OWN.slice(0, 1));
    expect(events).toHaveLength(3);
    expect(events[2]).toEqual({
      type: 'annotation.recorded',
      at: '1970-01-01T00:00:00Z',
      trajectory: 'own_quiz:1:0',
      annotator: 'human',
      schema: 'ternary',
      status: 'ok',
      signals: { finalLabel: 1 },
      turns: [
        { turn: 0, signals: { humanLabel: 0 } },
        { turn: 1, signals: { humanLabel: 1 } },
      ],
    });
  });

  it("makes annotations of a judge's labels, with its reasons, its gaps and its failures", async () => {
    const { events, skipped } = await readImport('agent-process-bench', OWN);
    const judged = events.filter(({ annotator }) => annotator === 'own-judge');
    expect(judged).toMatchObject([
      {
        trajectory: 'own_quiz:0:1',
        at: '2026-01-02T03:04:05.678901+00:00',
        status: 'ok',
        signals: { finalLabel: -1 },
        turns: [
          { turn: 0, signals: { judgeLabel: 0 }, rationale: 'because 2' },
          { turn: 1, signals: { judgeLabel: -1 }, rationale: 'because 4' },
        ],
        finalRationale: 'all in all',
      },
      { trajectory: 'own_quiz:0:0', turns: [{ signals: { judgeLabel: 1 } }, { signals: { judgeLabel: null } }] },
      { trajectory: 'own_quiz:1:0', status: 'failed', failureReason: 'error', turns: [] },
    ]);
    expect(skipped).toEqual([
      { where: ':4', why: expect.stringContaining('messages of rollout own_quiz:7:0') },
      { where: ':5', why: "step_labels speaks of message 3, which is no assistant's" },
      { where: ':6', why: expect.stringContaining('step_labels') },
    ]);
  });

  it('reads rollouts before the labels of them, whichever is named first', async () => {
    expect(await readImport('agent-process-bench', OWN.toReversed())).toEqual(
      await readImport('agent-process-bench', OWN),
    );
  });

  it('skips labels whose rollouts it has not seen', async () => {
    const { events, skipped } = await readImport('agent-process-bench', OWN.slice(1));
    expect(events).toEqual([]);
    expect(skipped).toHaveLength(6);
    expect(skipped[0].why).toContain('name the file of the rollouts in the same command');
  });
});

const skippedBecause =
  'agent-process-bench on the real files (skipped where ../shared/data/agentprocessbench is absent)';

describe.skipIf(!hasShared('agentprocessbench'))(skippedBecause, () => {
  const FILE = sharedFile('agentprocessbench/hotpotqa.jsonl.gz');
  const JUDGES = globSync(sharedFile('agentprocessbench/judges/*.jsonl.gz')).toSorted();

  it('has the counts of the source', async () => {
    const { trajectories, events, skipped } = await readImport('agent-process-bench', [FILE]);
    expect(skipped).toEqual([]);
    expect(countsOf(trajectories)).toEqual({
      trajectories: 250,
      groups: 50,
      mixed: 26,
      turns: 734,
      meanOutcome: 0.652,
    });
    const labels = events.flatMap((event) => labelsOf(event, 'humanLabel'));
    expect([1, 0, -1].map((label) => labels.filter((given) => given === label).length)).toEqual([499, 56, 179]);
    const outcomes = Array.from({ length: 50 }, (_, query) =>
      trajectories
        .filter(({ group }) => group === String(query))
        .map(({ outcomeReward }) => outcomeReward)
        .join(''),
    );
    expect([0, 5, 13, 28, 49].map((query) => outcomes[query])).toEqual(['00011', '11110', '11111', '11111', '10111']);
  });

  it('has the first -1 of each rollout where the source has it, and its shared states', async () => {
    const { trajectories, events } = await readImport('agent-process-bench', [FILE]);
    const first = events.map((event) => labelsOf(event, 'humanLabel').indexOf(-1));
    const count = (turn: number) => first.filter((at) => at === turn).length;
    expect([0, 1, 2, 3, -1].map(count)).toEqual([30, 26, 25, 18, 146]);
    const later = trajectories.flatMap(({ id, group, turns }) =>
      turns.slice(1).map(({ state }) => ({ id, key: JSON.stringify([group, state]) })),
    );
    const shared = [...Map.groupBy(later, ({ key }) => key).values()].filter(
      (met) => new Set(met.map(({ id }) => id)).size > 1,
    );
    expect([later.length, shared.flat().length]).toEqual([484, 19]);
  });

  it("agrees with the source about the judges' agreement with people", async () => {
    const { events } = await readImport('agent-process-bench', [FILE, ...JUDGES]);
    const human = new Map(
      events.filter(({ annotator }) => annotator === 'human').map((event) => [event.trajectory, event]),
    );
    const agreement = (judge: string) => {
      const judged = events.filter(({ annotator }) => annotator === judge);
      const pairs = judged.map((event) => [event, human.get(event.trajectory)!] as const);
      const steps = pairs.flatMap(([given, wanted]) => {
        const labels = labelsOf(given, 'judgeLabel');
        return labelsOf(wanted, 'humanLabel').map((label, turn) => label === labels[turn]);
      });
      const firsts = pairs.map(
        ([given, wanted]) => labelsOf(given, 'judgeLabel').indexOf(-1) === labelsOf(wanted, 'humanLabel').indexOf(-1),
      );
      const finals = pairs.map(([given, wanted]) => JSON.stringify(given.signals) === JSON.stringify(wanted.signals));
      return [steps, firsts, finals].map((hits) => (hits.filter(Boolean).length / hits.length).toFixed(3));
    };
    expect(Object.fromEntries(JUDGE_NAMES.map((name) => [name, agreement(name).join(' ')]))).toEqual({
      'gemini-3-flash-preview-nothinking': '0.767 0.700 0.804',
      'deepseek-chat': '0.744 0.652 0.744',
      'gpt-5.2': '0.721 0.696 0.816',
      'kimi-k2.5': '0.717 0.672 0.776',
      'Qwen3-8B': '0.604 0.572 0.668',
      'Llama-3.1-8B-Instruct': '0.346 0.536 0.600',
    });
  });

  it('has the baseline of the source: the outcome within its group tells +1 from -1 with AUC 0.705, 0.737 where groups are mixed', async () => {
    const { trajectories, events } = await readImport('agent-process-bench', [FILE]);
    const labels = new Map(events.map((event) => [event.trajectory, labelsOf(event, 'humanLabel')]));
    const groups = [...Map.groupBy(trajectories, ({ group }) => group).values()];
    const scored = groups.flatMap((members) => {
      const outcomes = members.map(({ outcomeReward }) => Number(outcomeReward));
      const mean = outcomes.reduce((sum, outcome) => sum + outcome, 0) / outcomes.length;
      const spread = Math.sqrt(outcomes.reduce((sum, outcome) => sum + (outcome - mean) ** 2, 0) / outcomes.length);
      return members.flatMap(({ id }, i) =>
        labels.get(id)!.map((label) => ({
          label,
          advantage: spread === 0 ? 0 : (outcomes[i] - mean) / spread,
          isMixed: spread > 0,
        })),
      );
    });
    expect(areaOf(scored).toFixed(3)).toBe('0.705');
    expect(areaOf(scored.filter(({ isMixed }) => isMixed)).toFixed(3)).toBe('0.737');
  });

  const JUDGE_NAMES = [
    'gemini-3-flash-preview-nothinking',
    'deepseek-chat',
    'gpt-5.2',
    'kimi-k2.5',
    'Qwen3-8B',
    'Llama-3.1-8B-Instruct',
  ];
});

function labelsOf(event: Readonly<Record<string, unknown>>, name: string): unknown[] {
  const turns = event.turns as readonly { turn: number; signals: Record<string, unknown> }[];
  return turns.map(({ signals }) => signals[name]);
}

/** Area under the curve of +1 against -1; ties count half. */
function areaOf(scored: readonly { readonly label: unknown; readonly advantage: number }[]): number {
  const good = scored.filter(({ label }) => label === 1);
  const bad = scored.filter(({ label }) => label === -1);
  const wins = good.map(({ advantage }) =>
    bad.reduce((sum, other) => sum + (advantage > other.advantage ? 1 : advantage === other.advantage ? 0.5 : 0), 0),
  );
  return wins.reduce((sum, won) => sum + won, 0) / (good.length * bad.length);
}
