import { describe, expect, it } from 'vitest';
import { ownFile, readImport } from '../../../test/support/read-import.js';

const OWN = ownFile('verl/12.jsonl');

describe('verl', () => {
  it('groups by prompt within the step of the file, and keeps equal rollouts apart', async () => {
    const { trajectories, skipped } = await readImport('verl', [OWN]);
    expect(skipped).toEqual([]);
    expect(trajectories[0]).toMatchObject({
      id: expect.stringMatching(/^step-12-[0-9a-f]{12}$/),
      trainingStep: 12,
      outcomeReward: 1,
      success: true,
      signals: { acc: 1, answerScore: 1, format: 1 },
      source: { gts: '4' },
    });
    const [first, second, third, other] = trajectories;
    expect([first.group === second.group, first.group === other.group]).toEqual([true, false]);
    expect(third.id).toBe(`${second.id}-2`);
  });

  it('is one turn, or is cut where the settings say', async () => {
    const whole = (await readImport('verl', [OWN])).trajectories[0].turns;
    expect(whole).toHaveLength(1);
    const settings = { observationStart: String.raw`\nuser\n`, observationEnd: String.raw`\nassistant\n` };
    const { trajectories } = await readImport('verl', [OWN], settings);
    expect(trajectories[0].turns).toEqual([
      { state: 'user\n2 + 2?\nassistant\n', action: '<tool_call>add(2, 2)</tool_call>' },
      { state: '<tool_response>4</tool_response>', action: 'It is 4.' },
    ]);
    expect(trajectories[1].turns).toHaveLength(1);
    const unclosed = await readImport('verl', [OWN], { ...settings, observationEnd: '</never>' });
    expect(unclosed.trajectories[0].turns).toEqual(whole);
  });

  it('takes the NaN of Python for a reward that is not there', async () => {
    const { trajectories } = await readImport('verl', [OWN]);
    expect(trajectories[3].outcomeReward).toBeNull();
    expect(trajectories[3]).not.toHaveProperty('success');
  });
});
