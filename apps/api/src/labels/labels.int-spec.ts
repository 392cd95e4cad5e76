import { afterAll, beforeAll, expect, it } from 'vitest';
import { aTrainingStep, testApi, type TestApi } from '../../../../test/support/api.js';
import { aProject, aRun } from '../../../../test/support/rows.js';

let api: TestApi;
let key: string;
let run: string;

beforeAll(async () => {
  api = await testApi();
  const project = await aProject(api.db.ownerPool);
  key = await api.key(project, 'read', 'analyze');
  run = await aRun(api.db.ownerPool, { project, name: 'r' });
  await api.append(run, aTrainingStep(0));
  await api.project(run);
});

afterAll(() => api?.close());

const label = async (annotator: string, labels: readonly number[], input: object = {}) => {
  const annotations = labels.map((humanLabel, turn) => ({ trajectory: 't0-0-0', turn, signals: { humanLabel } }));
  const answer = await api.ask(
    key,
    'mutation ($input: AnnotateAllInput!) { annotateAll(input: $input) { recorded unchanged } }',
    { input: { run: 'r', annotator, annotations, ...input } },
  );
  await api.project(run);
  return answer;
};

const report = async () =>
  (
    await api.ask(
      key,
      `{ labels(run: "r") { sampled raters { annotator signal turns byLabel others { turns sameShare } }
         pairs { first second agreement { turns kappa sameShare confusion } } } }`,
    )
  ).data.labels;

it('records many labels at once, once, and shows how far their annotators agree', async () => {
  expect((await label('ann', [1, -1, 0], { checkOnly: true })).data.annotateAll).toEqual({ recorded: 3, unchanged: 0 });
  expect(await report()).toEqual({ sampled: false, raters: [], pairs: [] });

  expect((await label('ann', [1, -1, 0])).data.annotateAll).toEqual({ recorded: 3, unchanged: 0 });
  expect((await label('ann', [1, -1, 0])).data.annotateAll).toEqual({ recorded: 0, unchanged: 3 });
  await label('bob', [1, 1, 0]);
  const found = await report();
  expect(found.raters).toEqual([
    { annotator: 'ann', signal: 'humanLabel', turns: 3, byLabel: [1, 1, 1], others: { turns: 3, sameShare: 2 / 3 } },
    { annotator: 'bob', signal: 'humanLabel', turns: 3, byLabel: [0, 1, 2], others: { turns: 3, sameShare: 2 / 3 } },
  ]);
  // observed 2/3; expected (1·0 + 1·1 + 1·2) / 9 = 1/3
  expect(found.pairs).toMatchObject([{ first: 0, second: 1, agreement: { turns: 3, sameShare: 2 / 3 } }]);
  expect(found.pairs[0].agreement.kappa).toBeCloseTo(0.5, 12);

  // ann changes its mind on one turn, and is the last to speak on the others
  expect((await label('ann', [1, 1, 0])).data.annotateAll).toEqual({ recorded: 3, unchanged: 0 });
  expect((await report()).pairs[0].agreement.sameShare).toBe(1);
});

it('scores a judge against people, failed judgements included', async () => {
  const judged = (trajectory: string, rest: object) => ({ type: 'annotation.recorded', at: '2026-11-21T12:00:00Z', trajectory, annotator: 'judge', ...rest }); // prettier-ignore
  await api.append(run, [
    judged('t0-0-0', { turns: [1, 1].map((judgeLabel, turn) => ({ turn, signals: { judgeLabel } })) }),
    judged('t0-0-1', { status: 'failed' }),
  ]);
  await label('ann', [1, 1, 0]);
  const annotations = [0, 1, 2].map((turn) => ({ trajectory: 't0-0-1', turn, signals: { humanLabel: -1 } }));
  await label('ann', [], { annotations });
  const { data } = await api.ask(key, '{ labels(run: "r") { raters { annotator benchmark { records stepAcc firstErrorAcc missingOrFailedRatio errorAcc correctAcc f1 byDataset } } } }'); // prettier-ignore
  const { benchmark } = data.labels.raters.find(({ annotator }: any) => annotator === 'judge');
  expect(benchmark).toMatchObject({ records: 2, stepAcc: 1 / 3, firstErrorAcc: 0.5, missingOrFailedRatio: 0.5, errorAcc: 0, correctAcc: 100, f1: 0 }); // prettier-ignore
  expect(benchmark.byDataset.unnamed.records).toBe(2);
});

it('records none when one of them is wrong, and says which', async () => {
  const before = await api.db.ownerPool.query('select next_position from run_stream where run_id = $1', [run]);
  const said = (trajectory: string, turn: number, signals: unknown) => ({ trajectory, turn, signals });
  const answer = await label('ann', [], {
    annotations: [
      said('t0-0-0', 0, { humanLabel: -1 }),
      said('t0-0-0', 3, { humanLabel: 1 }),
      said('nobody', 0, { humanLabel: 1 }),
      said('t0-0-0', 1, 7),
      said('t0-0-0', -1, { humanLabel: 1 }),
    ],
  });
  expect(answer.errors).toMatchObject([
    {
      message: 'annotations[1]: turn: 0 to 2 was wanted, found 3, and 3 more',
      extensions: { code: 'request.invalid', details: { count: 4, issues: [{ index: 1 }, { index: 2, message: 'the run has no trajectory nobody' }, { index: 3 }, { index: 4 }] } }, // prettier-ignore
    },
  ]);
  const after = await api.db.ownerPool.query('select next_position from run_stream where run_id = $1', [run]);
  expect(after.rows).toEqual(before.rows);
});

it('reads labels beside texts that Postgres cannot read as JSON', async () => {
  const at = '2026-11-21T12:00:00Z';
  const odd = { note: 'half a pair \ud800', nul: 'a \0', 'odd \udc00 name': 1 };
  const project = await aProject(api.db.ownerPool);
  const other = await aRun(api.db.ownerPool, { project, name: 'odd' });
  await api.append(other, [
    {
      type: 'trajectory.recorded',
      at,
      id: 't',
      group: 'g',
      trainingStep: 0,
      signals: { ...odd, dataset: 'qa' },
      turns: [{ state: 's', action: 'a' }],
    },
    ...[1, 'no label', -1, null].map((humanLabel) => ({
      type: 'annotation.recorded',
      at,
      annotator: 'ann',
      trajectory: 't',
      turns: [{ turn: 0, signals: { ...odd, humanLabel } }],
    })),
  ]);
  await api.project(other);
  const answer = await api.ask(
    await api.key(project, 'read'),
    '{ labels(run: "odd") { raters { annotator turns byLabel } } }',
  );
  expect(answer.errors).toBeUndefined();
  expect(answer.data.labels.raters).toEqual([{ annotator: 'ann', turns: 1, byLabel: [1, 0, 0] }]);
});
