import { describe, expect, it } from 'vitest';
import { countsOf, hasShared, ownFile, readImport, sharedFile } from '../../../test/support/read-import.js';

const OWN = ownFile('atropos/groups.jsonl');

describe('atropos', () => {
  it('has a trajectory per candidate of a group, and a turn per answer that was trained', async () => {
    const { trajectories } = await readImport('atropos', [OWN]);
    expect(trajectories.map(({ id, group }) => `${group}: ${id}`)).toEqual([
      'seed-5-step-0: seed-5-step-0-0',
      'seed-5-step-0: seed-5-step-0-1',
      'seed-5-step-1: seed-5-step-1-0',
      'seed-5-step-1: seed-5-step-1-1',
      expect.stringMatching(/^group-[0-9a-f]{12}: group-[0-9a-f]{12}-1$/),
    ]);
    expect(trajectories[0]).toMatchObject({
      outcomeReward: 1,
      signals: { seed: 5, step: 0, candidate: 0 },
      turns: [
        {
          state: 'user:Go on.',
          action: 'respond:left',
          signals: { loggedAdvantage: 0.7 },
          tokens: { tokenId: [3], rolloutLogprob: [-0.1], reward: [0.5] },
        },
        { state: 'user:A wall.', action: 'respond:right', tokens: { tokenId: [5], rolloutLogprob: [-0.2] } },
      ],
    });
    expect(trajectories[2].turns).toMatchObject([
      { tokens: { loggedAdvantage: [0.1] } },
      { tokens: { loggedAdvantage: [0.2] } },
    ]);
  });

  it('skips candidates and groups whose lists do not fit', async () => {
    const { skipped } = await readImport('atropos', [OWN]);
    expect(skipped).toEqual([
      { where: ':3', why: 'candidate 0 has 5 tokens and 1 masks' },
      { where: ':4', why: 'tokens, masks and scores speak of 2, 2 and 1 candidates' },
    ]);
  });
});

const skippedBecause = 'atropos on the real file (skipped where ../shared/data/atropos is absent)';

describe.skipIf(!hasShared('atropos'))(skippedBecause, () => {
  it('has the counts, scores and trained tokens of the source', async () => {
    const file = sharedFile('atropos/rubiks_process_results_32.jsonl.gz');
    const { trajectories, skipped } = await readImport('atropos', [file]);
    expect(skipped).toEqual([]);
    expect(countsOf(trajectories)).toMatchObject({ trajectories: 24, groups: 6, mixed: 4, turns: 24 });
    const lines = [...Map.groupBy(trajectories, ({ group }) => group).values()];
    expect(lines.map((line) => line.map(({ outcomeReward }) => Number(outcomeReward).toFixed(4)).join(' '))).toEqual([
      '0.6456 0.5956 0.6456 0.6307',
      '0.6356 -0.3544 -0.3544 -0.3544',
      '-0.3644 -0.3644 -0.3644 -0.3644',
      '0.6493 0.6456 0.6456 0.6456',
      '-0.3507 0.6393 0.6393 0.6393',
      '-0.3607 -0.3607 -0.3607 -0.3607',
    ]);
    expect(
      lines.map((line) => line.map(({ turns }) => (turns[0].tokens!.tokenId as number[]).length).join(' ')),
    ).toEqual(['157 157 157 157', '159 4 4 4', '4 4 4 4', '157 157 157 157', '4 159 159 159', '4 4 4 4']);
  });
});
