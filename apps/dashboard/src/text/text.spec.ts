import { paramsText } from './params.js';
import { expect, it } from 'vitest';
import { messagesOf } from './message.js';
import { ago, count, counted, credit, decimal, duration, percent, seconds } from './numbers.js';
import { visiblePieces, visibleText } from './visible-text.js';

it('leaves ordinary text of any language as it is', () => {
  for (const text of ['plain', 'line\n\ttab', 'Grüße, 你好, שלום, 👩🚀', '<script>alert(1)</script>', '']) {
    expect(visibleText(text)).toBe(text);
  }
});

it.each([
  ['a\u202Eb', 'a\\u202Eb'], // right-to-left override
  ['\u2066x\u2069', '\\u2066x\\u2069'],
  ['\u001B[31mred', '\\u001B[31mred'], // ANSI
  ['a\u200Bb\uFEFF', 'a\\u200Bb\\uFEFF'],
  ['\u{E0041}', '\\u{E0041}'], // a tag character
  ['\uD800', '\\uD800'], // half of a pair
  ['nul\u0000', 'nul\\u0000'],
  ['a\rb', 'a\\u000Db'],
])('writes out what hides in %j', (text, shown) => {
  expect(visibleText(text)).toBe(shown);
});

it('says which pieces were hidden, and takes Windows line ends as line ends', () => {
  expect(visiblePieces('a\r\nb\u202Ec')).toEqual([
    { text: 'a\nb', hidden: false },
    { text: '\\u202E', hidden: true },
    { text: 'c', hidden: false },
  ]);
});

it('takes a megabyte in its stride', () => {
  const started = performance.now();
  expect(visiblePieces('x'.repeat(1_000_000))).toHaveLength(1);
  expect(performance.now() - started).toBeLessThan(500);
});

it('reads chat messages, and shows what it does not know as the JSON it is', () => {
  const chat = JSON.stringify([
    { role: 'user', content: 'hello' },
    { role: 'assistant', content: null, tool_calls: [{ name: 'look' }] },
  ]);
  expect(messagesOf(chat).map(({ role }) => role)).toEqual(['user', 'assistant']);
  expect(messagesOf(chat)[0]).toEqual({ role: 'user', text: 'hello', calls: [] });
  expect(messagesOf(chat)[1].text).toContain('"look"');
  for (const text of ['[not json', '{"role": 1}', '[]', 'plain']) {
    expect(messagesOf(text)).toEqual([{ role: null, text, calls: [] }]);
  }
});

it('sets tool calls apart, however they are written, and keeps what is said beside them', () => {
  const openAi = { function: { name: 'search', arguments: '{"q":"milk"}' } };
  const anthropic = { type: 'tool_use', id: 't1', name: 'search', input: { q: 'milk' } };
  const search = { name: 'search', input: '{\n  "q": "milk"\n}' };
  const said = (message: object) => messagesOf(JSON.stringify({ role: 'assistant', ...message }))[0];
  expect(said({ content: 'I look', tool_calls: [openAi, openAi] })).toMatchObject({
    text: 'I look',
    calls: [search, search],
  });
  expect(said({ content: [{ type: 'text', text: 'I look' }, anthropic] })).toMatchObject({
    text: 'I look',
    calls: [search],
  });
  const broken = { function: { name: 'search', arguments: '{"q":' } };
  expect(said({ tool_calls: [broken] }).calls).toEqual([{ name: 'search', input: '{"q":' }]);
  const image = { type: 'image', source: 'data' };
  expect(said({ content: [image], name: 'a' })).toMatchObject({ text: expect.stringContaining('"image"'), calls: [] });
  expect(said({ content: [image], name: 'a' }).text).toContain('"name": "a"');
});

it('writes numbers so that columns align', () => {
  expect([count(43336), count(null), count(-5)]).toEqual(['43,336', '–', '−5']);
  expect([percent(0.65703), percent(0), percent(null)]).toEqual(['65.7 %', '0.0 %', '–']);
  expect([decimal(0.5), decimal(-2.5, 1), decimal(0), decimal(-1e-17)]).toEqual(['0.500', '−2.5', '0.000', '0.000']);
  expect([decimal(1875), decimal(-12_345.678)]).toEqual(['1,875.0', '−12,345.7']);
  expect([seconds(0.0432), seconds(8.06), seconds(80), seconds(null)]).toEqual(['0.043 s', '8.1 s', '1 min 20 s', '–']);
  expect([decimal(2.6e-5, 2), decimal(-2.6e-5, 2), decimal(1.5e7)]).toEqual(['2.6e−5', '−2.6e−5', '1.5e7']);
  expect([credit(0.5, 2), credit(-0.5, 2), credit(0, 2), credit(null)]).toEqual(['+0.50', '−0.50', '0.00', '–']);
  expect(credit(1e-17)).toBe('0.000');
  expect([duration(59.6), duration(80), duration(4000)]).toEqual(['1 min 0 s', '1 min 20 s', '1 h 6 min']);
  expect([counted(1, 'group'), counted(2, 'success', 'successes')]).toEqual(['1 group', '2 successes']);
});

it('says how long ago something was, and when nobody knows', () => {
  const now = Date.parse('2026-11-21T12:00:00Z');
  expect(ago('2026-11-21T11:59:58Z', now)).toBe('just now');
  expect(ago('2026-11-21T11:58:00Z', now)).toBe('2 min. ago');
  expect(ago('2026-11-22T12:00:00Z', now)).toBe('just now'); // another machine's clock
  expect(ago('1970-01-01T00:00:00Z', now)).toBe('not dated');
  expect(ago(null, now)).toBe('–');
});

it('writes params in a line, nested ones as JSON', () => {
  expect(paramsText({ gamma: 0.95, mode: 'mean', weights: { a: 1 } })).toBe('gamma 0.95, mode mean, weights {"a":1}');
  expect(paramsText({})).toBe('none');
});
