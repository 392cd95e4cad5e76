import type { Confined, Principal } from '#lib/access';
import { RecreditError } from '#lib/kernel';

/** For whoever goes on for long after the key was looked at. @throws RecreditError `key.invalid` once it is revoked */
export async function assertKeyHolds(db: Confined, { keyId }: Principal): Promise<void> {
  const holds = await db.query('select from api_key where id = $1 and revoked_at is null', [keyId]);
  if (holds.length === 0) throw new RecreditError('key.invalid', 'this key was revoked');
}
