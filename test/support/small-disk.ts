import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmdirSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const ROOMY = '6g';

/** A disk in memory that can be full and have room again. Mounting one takes the rights of root. */
export class SmallDisk {
  private constructor(readonly path: string) {}

  static mount(path: string): SmallDisk {
    mkdirSync(path, { recursive: true });
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${ROOMY},mode=0711`, 'tmpfs', path], { stdio: 'pipe' });
    return new SmallDisk(path);
  }

  /** From now on it holds what is on it and so many bytes more. */
  fill(moreBytes = 0): void {
    for (let tries = 1; ; tries++) {
      const { blocks, bfree, bsize } = statfsSync(this.path);
      const size = Math.max((blocks - bfree) * bsize + moreBytes, bsize);
      try {
        this.#remount(String(size));
        return;
      } catch (error) {
        if (tries === 50) throw error; // somebody wrote meanwhile: a disk cannot be smaller than what is on it
      }
    }
  }

  makeRoom(): void {
    this.#remount(ROOMY);
  }

  #remount(size: string): void {
    execFileSync('mount', ['-o', `remount,size=${size}`, this.path], { stdio: 'pipe' });
  }

  unmount(): void {
    execFileSync('umount', [this.path]);
  }
}

/** Why no disk can be mounted here; null: one can. */
export function whyNoDisks(): string | null {
  if (process.platform !== 'linux') return 'tmpfs is of Linux';
  const path = mkdtempSync(join(tmpdir(), 'recredit-disk-'));
  try {
    SmallDisk.mount(path).unmount();
    return null;
  } catch (error) {
    return `mounting a tmpfs is not permitted: ${(error as Error).message.trim().split('\n').at(-1)}`;
  } finally {
    rmdirSync(path);
  }
}
