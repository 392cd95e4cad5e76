import { describe, expect, it } from 'vitest';
import { ownFile } from '../../../test/support/read-import.js';
import { previewFiles } from './preview-files.js';

describe('previewFiles', () => {
  it('counts what an import would store, and by what it knew the format', async () => {
    const preview = await previewFiles('auto', [ownFile('openai-chat/conversations.jsonl')]);
    expect(preview).toMatchObject({
      files: [{ format: 'openai-chat', why: 'its first line has messages' }],
      trajectories: 4,
      groups: 2,
      mixedGroups: 1,
      turns: 5,
      tokens: 2,
      annotations: 1,
      trainingSteps: { first: 0, last: 2 },
      withOutcome: 2,
      meanOutcome: 0.5,
      skippedCount: 1,
      example: { id: 'step-2-sum-0' },
    });
    expect(preview.understood).toEqual(
      expect.arrayContaining([
        { level: 'trajectory', name: 'toolCalls', rows: 4 },
        { level: 'turn', name: 'reward', rows: 2 },
        { level: 'turn', name: 'humanLabel (annotated)', rows: 2 },
        { level: 'token', name: 'rolloutLogprob', rows: 2 },
      ]),
    );
    expect(preview.keptOnly).toEqual([{ field: 'tools', records: 1 }]);
  });

  it('counts turns and ends that come as events', async () => {
    const preview = await previewFiles('agent-lightning', [ownFile('agent-lightning/events.jsonl')]);
    expect(preview).toMatchObject({ trajectories: 3, turns: 3, withOutcome: 2, mixedGroups: 1, skippedCount: 2 });
  });

  it('refuses what an import would refuse', async () => {
    await expect(previewFiles('mint', [ownFile('verl/12.jsonl')])).rejects.toMatchObject({ code: 'file.invalid' });
    await expect(previewFiles('csv', [])).rejects.toMatchObject({ code: 'format.unknown' });
    await expect(previewFiles('verl', [], { separator: 'x' })).rejects.toMatchObject({ code: 'usage.wrong' });
  });
});
