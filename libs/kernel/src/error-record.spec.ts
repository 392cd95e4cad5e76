import { expect, it } from 'vitest';
import { errorRecord, masked } from './error-record.js';
import { RecreditError } from './errors.js';

const thrownBy = (work: () => unknown): unknown => {
  try {
    return work();
  } catch (error) {
    return error;
  }
};

it('says what kind of error it was and where, and not the payload that it stumbled over', () => {
  const record = errorRecord(thrownBy(() => JSON.parse('{"state": patient Ann}')));
  expect(record.type).toBe('SyntaxError');
  expect(record.stack).toContain('error-record.spec');
  expect(JSON.stringify(record)).not.toContain('patient');
});

it('takes none of the fields in which Postgres shows values, and none of its quotes', () => {
  const error = Object.assign(new Error('invalid input syntax for type integer: "patient Ann"'), {
    code: '22P02',
    detail: 'Key (name)=(patient Ann)',
    where: 'patient Ann',
  });
  const record = errorRecord(error);
  expect(record).toMatchObject({ code: '22P02', message: 'invalid input syntax for type integer: "..."' });
  expect(JSON.stringify(record)).not.toContain('patient');
});

it('keeps the names of our own tables', () => {
  const error = Object.assign(new Error('relation "segment" does not exist'), { code: '42P01' });
  expect(errorRecord(error).message).toBe('relation "segment" does not exist');
});

it('leaves out the details of our own errors, and quotes where a caller is to blame', () => {
  const refused = new RecreditError('events.invalid', 'expected a number, found "patient Ann"', {
    found: 'patient Ann',
  });
  expect(JSON.stringify(errorRecord(refused))).not.toContain('patient');
  const ours = new RecreditError('segment.damaged', 'segment "a" is damaged', { text: 'patient Ann' });
  expect(errorRecord(ours)).toMatchObject({ code: 'segment.damaged', message: 'segment "a" is damaged' });
  expect(JSON.stringify(errorRecord(ours))).not.toContain('patient');
});

it('follows causes, as far as they are worth following', () => {
  const loop = new Error('outer');
  loop.cause = loop;
  expect(errorRecord(loop).cause?.cause?.message).toBe('outer');
  expect(errorRecord('patient Ann')).toEqual({ type: 'string', message: 'what was thrown is no error' });
});

it('masks keys and passwords', () => {
  expect(masked('rk_0a1b_c2d3e4 at postgres://recredit:geheim@127.0.0.1:54320/recredit')).toBe(
    'rk_0a1b_... at postgres://recredit:...@127.0.0.1:54320/recredit',
  );
});
