import { createHmac } from 'node:crypto';

/**
 * The signature of a delivery, as Standard Webhooks 1.0 has it (https://www.standardwebhooks.com), so that its libraries
 * verify it:
 *
 *     v1,base64(HMAC-SHA256(secret, id + "." + timestamp + "." + body))
 *
 * @param secret `whsec_` and the key's bytes in base64
 * @param timestamp when it is sent: whole seconds since 1970
 */
export function signature(secret: string, id: string, timestamp: number, body: string): string {
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
  return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`;
}
