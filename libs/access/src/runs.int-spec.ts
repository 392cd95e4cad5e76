import { newId } from '#lib/kernel';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { testDatabase, type TestDatabase } from '../../../test/support/database.js';
import { aProject, aRun } from '../../../test/support/rows.js';
import { confine, type Confined } from './confine.js';
import { ensureProject, findProject } from './projects.js';
import { findRun, registerRun } from './runs.js';

let db: TestDatabase;
let all: Confined;
beforeAll(async () => {
  db = await testDatabase();
  all = confine(db.callerPool, '*');
});
afterAll(() => db.drop());

const aName = () => `name-${newId()}`;

describe('registering a run', () => {
  it('gives the same run for the same Idempotency-Key, whatever the config', async () => {
    const request = { project: await aProject(db.ownerPool), name: aName(), config: { lr: 1 }, idempotencyKey: 'k' };
    const first = await registerRun(all, request);
    const again = await registerRun(all, { ...request, config: { lr: 2 } });
    expect([first.created, again.created]).toEqual([true, false]);
    expect(again.run).toEqual(first.run);
    expect(first.run).toMatchObject({ name: request.name, config: { lr: 1 } });
  });

  it('gives the same run without a key when the config is equal, in any order of its fields', async () => {
    const request = { project: await aProject(db.ownerPool), name: aName() };
    const first = await registerRun(all, { ...request, config: { a: 1, b: { c: [2] } } });
    const again = await registerRun(all, { ...request, config: { b: { c: [2] }, a: 1 } });
    expect([again.created, again.run.id]).toEqual([false, first.run.id]);
  });

  it.each([
    ['another key', { idempotencyKey: 'other' }],
    ['no key and another config', { config: { lr: 2 } }],
  ])('refuses the name to %s', async (_, change) => {
    const request = { project: await aProject(db.ownerPool), name: aName() };
    await registerRun(all, { ...request, config: { lr: 1 }, idempotencyKey: 'k' });
    await expect(registerRun(all, { ...request, ...change })).rejects.toMatchObject({ code: 'run.conflicting' });
  });

  it('makes one run when many ask at the same time', async () => {
    const request = { project: await aProject(db.ownerPool), name: aName() };
    const answers = await Promise.all(Array.from({ length: 20 }, () => registerRun(all, request)));
    expect(answers.filter(({ created }) => created)).toHaveLength(1);
    expect(new Set(answers.map(({ run }) => run.id)).size).toBe(1);
  });

  it('knows no project that the caller does not see', async () => {
    const theirs = await aProject(db.ownerPool);
    const stranger = confine(db.callerPool, [await aProject(db.ownerPool)]);
    await expect(registerRun(stranger, { project: theirs, name: 'x' })).rejects.toMatchObject({
      code: 'project.unknown',
    });
  });

  it('allows the same name in two projects', async () => {
    const name = aName();
    const [a, b] = await Promise.all([1, 2].map(() => aProject(db.ownerPool)));
    const runs = await Promise.all([a, b].map((project) => registerRun(all, { project, name })));
    expect(runs.map(({ run }) => run.projectId)).toEqual([a, b]);
  });
});

describe('finding a run', () => {
  it('takes its id or its name', async () => {
    const name = aName();
    const id = await aRun(db.ownerPool, { name });
    expect([(await findRun(all, id)).id, (await findRun(all, name)).id]).toEqual([id, id]);
  });

  it('asks for the project when the name is in several, of those the caller sees', async () => {
    const name = aName();
    const [a, b] = await Promise.all([1, 2].map(() => aProject(db.ownerPool)));
    const [idA] = [await aRun(db.ownerPool, { project: a, name }), await aRun(db.ownerPool, { project: b, name })];
    await expect(findRun(all, name)).rejects.toMatchObject({
      code: 'run.unknown',
      message: expect.stringContaining('several'),
    });
    expect((await findRun(all, name, a)).id).toBe(idA);
    expect((await findRun(confine(db.callerPool, [a]), name)).id).toBe(idA);
  });

  it('knows no run of another project, by id or by name', async () => {
    const name = aName();
    const id = await aRun(db.ownerPool, { name });
    const stranger = confine(db.callerPool, [await aProject(db.ownerPool)]);
    for (const it of [id, name]) await expect(findRun(stranger, it)).rejects.toMatchObject({ code: 'run.unknown' });
  });
});

describe('a project', () => {
  it('is made once, by who sees all', async () => {
    const name = aName();
    const made = await Promise.all([1, 2, 3].map(() => ensureProject(all, name)));
    expect(new Set(made.map(({ id }) => id)).size).toBe(1);
    expect(await findProject(all, made[0].id)).toEqual(made[0]);
  });

  it('is found, but not made, by who sees it alone', async () => {
    const project = await ensureProject(all, aName());
    const caller = confine(db.callerPool, [project.id]);
    expect(await ensureProject(caller, project.name)).toEqual(project);
    await expect(ensureProject(caller, aName())).rejects.toMatchObject({ code: 'project.unknown' });
  });
});
