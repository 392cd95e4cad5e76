import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { hash } from 'node:crypto';
import { messageOf, RecreditError } from '#lib/kernel';
import { z } from 'zod';
import { writeSafely } from './checked-file.js';
import { damaged } from './damaged.js';

/** Goes up when an older platform could not read it. */
const FORMAT = 1;
const MANIFEST = 'manifest.json';
/** as `sha256sum -c` reads it */
const CHECKSUM = 'manifest.sha256';

const CheckedFile = z.strictObject({
  file: z.string().regex(/^[a-z_]+\.[a-z]+$/),
  bytes: z.int().nonnegative(),
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
});

const ManifestSchema = z.strictObject({
  format: z.literal(FORMAT),
  createdAt: z.string(),
  /** migrations that the database had */
  schema: z.array(z.string()),
  runs: z.int().nonnegative(),
  events: z.int().nonnegative(),
  tables: z.array(
    z.strictObject({
      ...CheckedFile.shape,
      table: z.string().regex(/^[a-z_]+$/),
      columns: z.array(z.string().regex(/^[a-z0-9_]+$/)),
      rows: z.int().nonnegative(),
    }),
  ),
  credit: z.strictObject({
    ...CheckedFile.shape,
    count: z.int().nonnegative(),
    /** keys of results whose file was not in the segment store */
    missing: z.array(z.string()),
  }),
});

/** What a backup holds. It is written last: without it a backup was not finished. */
export type Manifest = z.infer<typeof ManifestSchema>;

export async function writeManifest(folder: string, manifest: Omit<Manifest, 'format'>): Promise<Manifest> {
  const whole = ManifestSchema.parse({ format: FORMAT, ...manifest });
  const text = `${JSON.stringify(whole, null, 2)}\n`;
  await writeSafely(join(folder, CHECKSUM), `${hash('sha256', text)}  ${MANIFEST}\n`);
  await writeSafely(join(folder, MANIFEST), text);
  return whole;
}

/** @throws RecreditError `backup.damaged` */
export async function readManifest(folder: string): Promise<Manifest> {
  const text = await readPart(folder, MANIFEST);
  const promised = (await readPart(folder, CHECKSUM)).toString('utf8');
  const found = `${hash('sha256', text)}  ${MANIFEST}\n`;
  if (promised !== found) throw damaged(`${MANIFEST} is not what ${CHECKSUM} says: it was changed, or copied badly`);
  const { format } = JSON.parse(text.toString('utf8')) as { format?: unknown };
  if (format !== FORMAT) {
    throw new RecreditError('backup.refused', `a backup of format ${FORMAT} was wanted, found ${String(format)}`);
  }
  const manifest = ManifestSchema.safeParse(JSON.parse(text.toString('utf8')));
  if (!manifest.success) throw damaged(`${MANIFEST}: ${z.prettifyError(manifest.error)}`);
  return manifest.data;
}

async function readPart(folder: string, file: string): Promise<Buffer> {
  return readFile(join(folder, file)).catch((cause: unknown) => {
    const missing = (cause as NodeJS.ErrnoException).code === 'ENOENT';
    throw damaged(
      missing ? `${folder} has no ${file}: it is no backup, or one that was not finished` : messageOf(cause),
    );
  });
}
