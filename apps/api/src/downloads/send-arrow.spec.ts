import { expect, it } from 'vitest';
import { safeFileName } from './send-arrow.js';

it.each([
  ['grpo-7b.trajectories.arrow', 'grpo-7b.trajectories.arrow'],
  ['a "b"\r\nSet-Cookie: x.arrow', 'a_b_Set-Cookie_x.arrow'],
  ['../../etc/passwd', '__.._etc_passwd'],
  ['жé 7.arrow', '_7.arrow'],
  [`${'x'.repeat(200)}.arrow`, `${'x'.repeat(94)}.arrow`],
])('%j becomes %j', (name, safe) => expect(safeFileName(name)).toBe(safe));
