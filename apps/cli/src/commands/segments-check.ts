import { messageOf } from '#lib/kernel';
import { openSegmentStore } from '#lib/storage';

const isBucket = (segments: string) => segments.startsWith('s3:');

/** Writes, reads, lists and deletes one file. @returns what was found, in words @throws what failed */
export async function segmentsCheck(segments: string): Promise<string> {
  const [place, asked] = segments.split('?', 2);
  const endpoint = new URLSearchParams(asked).get('endpoint');
  const where = `${place}${endpoint ? ` at ${endpoint}` : ''}`;
  try {
    await tryOut(segments);
  } catch (error) {
    throw new Error(`${where}: ${messageOf(error)}`, { cause: error });
  }
  return `${where} can be written and read`;
}

async function tryOut(segments: string): Promise<void> {
  const store = await openSegmentStore(segments, { patienceMs: 0 });
  const key = `doctor/${process.pid}`;
  const wanted = Buffer.from(`written by recredit doctor at ${new Date().toISOString()}`);
  await store.put(key, wanted);
  const found = await store.get(key);
  const listed = await store.list(key);
  await store.delete(key);
  if (!wanted.equals(found)) throw new Error('what was written was read back as something else');
  if (!listed.includes(key)) throw new Error('what was written is not listed');
  if (await store.exists(key)) throw new Error('what was deleted is still there');
}

export const segmentsAdvice = (segments: string) =>
  isBucket(segments)
    ? 'docs/guides/operate.md#segments-in-a-bucket says which variables and rights a bucket takes'
    : 'set RECREDIT_SEGMENTS to file:/a/folder that this user may write';
