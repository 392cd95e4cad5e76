import { mkdtempSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { thisProcess } from './process-identity.js';
import { takeLock } from './spool-lock.js';

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'recredit-lock-'));
});
afterEach(() => {
  rmSync(dir, { recursive: true });
});

const leftBy = (holder: object) => {
  writeFileSync(join(dir, 'lock.4'), JSON.stringify({ ...thisProcess(), ...holder }));
};

it('is held by a living process, and by nobody after its release', () => {
  const first = takeLock(dir).lock!;
  expect(first.epoch).toBe(0);
  expect(takeLock(dir)).toEqual({ lock: null, holder: thisProcess() });
  first.release();
  expect(takeLock(dir).lock!.epoch).toBe(1);
  expect(first.renew()).toBe(false);
  expect(readdirSync(dir)).toEqual(['lock.1']);
});

it('passes on from a process that is gone, in a newer epoch', () => {
  leftBy({ pid: 2 ** 22 + 1 });
  expect(takeLock(dir).lock!.epoch).toBe(5);
});

it('is not deceived by another process with the same pid, as containers have', () => {
  leftBy({ started: '1' });
  expect(takeLock(dir).lock!.epoch).toBe(5);
});

it('waits for the lease of a holder on another machine to run out', () => {
  leftBy({ place: 'elsewhere' });
  expect(takeLock(dir).lock).toBeNull();
  const eleven = new Date(Date.now() - 11 * 60_000);
  utimesSync(join(dir, 'lock.4'), eleven, eleven);
  expect(takeLock(dir).lock!.epoch).toBe(5);
});

it('takes over a lock that a full disk left empty', () => {
  writeFileSync(join(dir, 'lock.4'), '');
  expect(takeLock(dir).lock!.epoch).toBe(5);
});

it('names its holder so that a person can find it', () => {
  takeLock(dir);
  expect(JSON.parse(readFileSync(join(dir, 'lock.0'), 'utf8'))).toMatchObject({ pid: process.pid });
});
