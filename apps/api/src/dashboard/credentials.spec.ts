import { expect, it } from 'vitest';
import { credentialsOf } from './credentials.js';

const KEY = 'rk_0123_abcd';
const cookie = `other=1; recredit_key=${KEY}`;
const upgrade = { upgrade: 'websocket', host: 'recredit:4000', cookie };

it('takes the key of the header before that of the cookie', () => {
  const headers = { authorization: 'Bearer other', cookie };
  expect(credentialsOf({ method: 'POST', headers })).toBe('Bearer other');
});

it.each([
  ['a page reads', { method: 'GET', headers: { cookie } }, true],
  ['our page changes', { method: 'POST', headers: { cookie, 'recredit-csrf': '1' } }, true],
  ['another page changes', { method: 'POST', headers: { cookie } }, false],
  ['another page deletes', { method: 'DELETE', headers: { cookie } }, false],
  ['our page listens', { method: 'GET', headers: { ...upgrade, origin: 'http://recredit:4000' } }, true],
  ['another port listens', { method: 'GET', headers: { ...upgrade, origin: 'http://recredit:4001' } }, false],
  ['a sandboxed page listens', { method: 'GET', headers: { ...upgrade, origin: 'null' } }, false],
  ['nobody says which page listens', { method: 'GET', headers: upgrade }, false],
  ['the cookie is no key', { method: 'GET', headers: { cookie: 'recredit_key=nonsense' } }, false],
  ['there is none', { method: 'GET', headers: {} }, false],
])('when %s', (_, request, counts) => {
  expect(credentialsOf(request)).toBe(counts ? `Bearer ${KEY}` : undefined);
});
