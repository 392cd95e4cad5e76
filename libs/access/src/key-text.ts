import { createHash, randomBytes } from 'node:crypto';

/** A key as its holder has it. Only the hash of the secret is ever stored; it is random, so one round of sha256 will do. */
export interface KeyText {
  readonly id: string;
  readonly secretHash: Buffer;
}

const FORM = /^rk_([0-9a-f]{16})_([0-9a-f]{48})$/;

export function makeKeyText(): KeyText & { readonly text: string } {
  const id = randomBytes(8).toString('hex');
  const secret = randomBytes(24).toString('hex');
  return { id, secretHash: hashOf(secret), text: `rk_${id}_${secret}` };
}

/** null: no key of ours has this form. */
export function parseKeyText(text: string): KeyText | null {
  const [, id, secret] = text.match(FORM) ?? [];
  return id && secret ? { id, secretHash: hashOf(secret) } : null;
}

const hashOf = (secret: string) => createHash('sha256').update(secret).digest();
