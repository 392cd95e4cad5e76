import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { writeWhole } from './spool-files.js';

const FILE = 'producer.json';

/** Who wrote this folder and for which run. Never holds a key. */
export interface ProducerFile {
  readonly version: 1;
  readonly producer: string;
  /** null: recorded without a server */
  readonly url: string | null;
  readonly project: string;
  readonly name: string;
  readonly config: Readonly<Record<string, unknown>>;
  readonly idempotencyKey: string;
  /** null: not created yet */
  readonly run: string | null;
  readonly startedAt: string;
  /** Can be made again from its source, so nobody else needs to send it. */
  readonly replay: boolean;
}

export function writeProducerFile(dir: string, producer: ProducerFile): void {
  writeWhole(join(dir, FILE), `${JSON.stringify(producer, null, 2)}\n`);
}

/** The file of a folder, or null where there is none that can be read. */
export function readProducerFile(dir: string): ProducerFile | null {
  try {
    const producer = JSON.parse(readFileSync(join(dir, FILE), 'utf8')) as ProducerFile;
    return producer.version === 1 && typeof producer.producer === 'string' ? producer : null;
  } catch {
    return null;
  }
}
