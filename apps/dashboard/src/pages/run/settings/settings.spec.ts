import { expect, it } from 'vitest';
import { settingChanges, settingFields, settingText, settingValue } from './setting-fields.js';
import { settingRefusals } from './setting-refusals.js';

it('tells what each setting wants, and what it is where nobody sets it', () => {
  const schema = {
    properties: {
      share: { type: 'number', minimum: 0, maximum: 1, default: 0.5, description: 'of the groups' },
      steps: { type: 'integer', exclusiveMinimum: 0, maximum: Number.MAX_SAFE_INTEGER, default: 5 },
      tokens: { anyOf: [{ type: 'integer', minimum: 2, maximum: 100000 }, { type: 'null' }], default: null },
      floor: { type: ['number', 'null'], default: null },
      words: { type: 'array', default: ['wait'] },
      asTokens: { type: 'boolean', default: false },
      weights: { type: 'object', default: {} },
    },
  };
  const fields = settingFields(schema);
  expect(fields[0]).toEqual({
    name: 'share',
    description: 'of the groups',
    choices: null,
    wanted: 'a number from 0 to 1',
    standard: 0.5,
  });
  expect(fields.map(({ wanted }) => wanted).slice(1)).toEqual([
    'a whole number above 0',
    'a whole number from 2 to 100000',
    'a number',
    'a JSON list',
    '',
    '',
  ]);
  expect(fields[5].choices).toEqual(['true', 'false']);
  expect(settingFields(null)).toEqual([]);
});

it('reads what is written as the command line does, and an empty field as the default', () => {
  expect([' ', '0.5', 'true', '["a"]', '{"of":2}', 'half'].map(settingValue)).toEqual([
    null,
    0.5,
    true,
    ['a'],
    { of: 2 },
    'half',
  ]);
  expect([undefined, null, 0.5, 'half', ['a']].map(settingText)).toEqual(['', '', '0.5', 'half', '["a"]']);
});

it('sends what was changed and nothing else', () => {
  const before = { share: '0.6', steps: '' };
  expect(settingChanges(before, { share: '', steps: '7', hold: '' })).toEqual({ share: null, steps: 7 });
  expect(settingChanges(before, before)).toEqual({});
});

it('puts a refusal beside the setting that was refused', () => {
  const issues = [
    { path: 'hold.of', message: 'too small' },
    { path: 'hold', message: 'no' },
    { path: 'share', message: 'too big' },
  ];
  const refusal = { message: 'all of it', graphQLErrors: [{ extensions: { details: { issues } } }] };
  expect(Object.fromEntries(settingRefusals(refusal))).toEqual({ hold: 'too small; no', share: 'too big' });
  expect(settingRefusals({ message: 'role', graphQLErrors: [{ extensions: {} }] }).size).toBe(0);
  expect(settingRefusals({ message: 'network', graphQLErrors: [] }).size).toBe(0);
});
