import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { setImmediate } from 'node:timers/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { openPlatformLog } from './platform-log.js';

it.runIf(process.platform === 'linux')(
  'goes on, and tells what a person should know, where the disk is full',
  async () => {
    const home = mkdtempSync(join(tmpdir(), 'recredit-log-'));
    try {
      symlinkSync('/dev/full', join(home, 'recredit.log'));
      const told: string[] = [];
      const { logger } = openPlatformLog(home, { tell: (line) => told.push(line) });
      for (let i = 0; i < 3; i++) {
        logger.warn({ reason: 'no space' }, 'the queue met an error');
        await setImmediate();
      }
      expect(told).toHaveLength(3);
    } finally {
      rmSync(home, { recursive: true });
    }
  },
);
