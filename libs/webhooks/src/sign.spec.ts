import { expect, it } from 'vitest';
import { signature } from './sign.js';

it('signs as the test vector of Standard Webhooks does', () => {
  const [secret, id] = ['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', 'msg_p5jXN8AQM9LWM0D4loKWxJek'];
  expect(signature(secret, id, 1614265330, '{"test": 2432232314}')).toBe(
    'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
  );
});
