import type { Pool, SegmentStore } from '#lib/storage';
import { READ_MODEL_TABLES } from './drop-read-models.js';

/** All that was made of a run's log: rows as text, and the files that lie in its folder. For specs. */
export async function everythingOf(pool: Pool, store: SegmentStore, runId: string) {
  const tables: Record<string, string[]> = {};
  for (const table of READ_MODEL_TABLES) {
    const { rows } = await pool.query(`select ${table}::text as text from ${table} where run_id = $1`, [runId]);
    tables[table] = rows.map(({ text }) => String(text).replaceAll(runId, '<run>')).toSorted();
  }
  const files: Record<string, string> = {};
  for (const key of await store.list(`segments/${runId}/`)) {
    files[key.replace(runId, '<run>')] = Buffer.from(await store.get(key)).toString('base64');
  }
  return { tables, files };
}

/** A segment store in memory. */
export function memoryStore(): SegmentStore {
  const files = new Map<string, Uint8Array>();
  return {
    put: async (key, bytes) => void files.set(key, bytes.slice()),
    get: async (key) => files.get(key)!,
    exists: async (key) => files.has(key),
    list: async (prefix) => [...files.keys()].filter((key) => key.startsWith(prefix)).toSorted(),
    probe: async () => {},
    delete: async (key) => void files.delete(key),
  };
}
