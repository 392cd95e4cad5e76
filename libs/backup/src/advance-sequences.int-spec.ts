import { newId } from '#lib/kernel';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { testDatabase, type TestDatabase } from '../../../test/support/database.js';
import { aProject, aRun } from '../../../test/support/rows.js';
import { advanceSequences } from './advance-sequences.js';

let db: TestDatabase;
beforeAll(async () => void (db = await testDatabase()));
afterAll(() => db?.drop());

it('counts on after the greatest number that was put back, and from 1 where nothing was', async () => {
  const owner = db.ownerPool;
  const project = await aProject(owner);
  const run = await aRun(owner, { project });
  await owner.query(`insert into webhook (id, project_id, url) values ('w', $1, 'https://example.com/')`, [project]);
  const deliver = async (number: number | null) => {
    await owner.query(
      `insert into alert (id, run_id, diagnostic, rule, level, says, saw, opened_step, opened_as_of)
       values ($1, $2, 'd', 'r', 'warn', 's', '{}', (select count(*) from alert), 0)`,
      [newId(), run],
    );
    const { rows } = await owner.query(
      `insert into webhook_delivery (${number === null ? '' : 'number, '}id, webhook_id, project_id, run_id, alert_id, edge, body)
       overriding system value
       select ${number === null ? '' : `${number}, `}$1, 'w', $2, $3, id, 'opened', '{}' from alert order by opened_step desc limit 1
       returning number::int`,
      [newId(), project, run],
    );
    return rows[0].number;
  };
  await advanceSequences(owner, ['webhook_delivery', 'webhook']);
  expect(await deliver(null)).toBe(1);
  await deliver(2);
  await deliver(7);
  await advanceSequences(owner, ['webhook_delivery', 'webhook']);
  expect(await deliver(null)).toBe(8);
});
