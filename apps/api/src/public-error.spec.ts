import { RecreditError } from '#lib/kernel';
import { expect, it } from 'vitest';
import { publicError } from './public-error.js';

const failure = (code: string, message = 'of Postgres') => Object.assign(new Error(message), { code });

it.each([
  ['the connection is gone', failure('57P01')],
  ['nobody listens', failure('ECONNREFUSED')],
  ['its disk is full', failure('53100', 'could not extend file')],
  ['the connection died under way', new Error('Connection terminated unexpectedly')],
])('asks to come again while the database is away: %s', (_, error) => {
  expect(publicError(error)).toMatchObject({ code: 'database.unavailable', status: 503, cause: error });
});

it('says nothing of our own faults, and all of refusals', () => {
  const refusal = new RecreditError('run.unknown', 'no run has the id x');
  expect(publicError(refusal)).toBe(refusal);
  expect(publicError(failure('23505', 'secret'))).toMatchObject({ code: 'internal.error', status: 500 });
  expect(publicError(failure('23505', 'secret')).message).not.toContain('secret');
  expect(publicError(failure('22021'))).toMatchObject({ code: 'request.invalid' });
});
