import { expect, it } from 'vitest';
import { reasonOf } from './reason.js';

it.each([
  [{ name: 'Error', message: 'disk full', stack: '...' }, 'disk full'],
  [{ value: { message: 'job heartbeat timeout' } }, 'its worker died or stopped answering'],
  [{ value: 'pg-boss shut down while active' }, 'its worker was shut down'],
  ['text', 'text'],
  [{ value: 42 }, '42'],
  [null, 'no reason was given'],
  [{}, 'no reason was given'],
])('says in words why %j', (output, reason) => expect(reasonOf(output)).toBe(reason));
