import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

/** Debian's chromium brings a Vulkan loader, and a driver that computes on the processor. */
const CHROMIUM = '/usr/lib/chromium';
const DRIVER = join(CHROMIUM, 'vk_swiftshader_icd.json');
const absent = [DRIVER, join(CHROMIUM, 'libvulkan.so.1'), 'node_modules/webgpu/index.js'].filter((f) => !existsSync(f));

// The loader is found at the start of a process or never, so the kernels are checked in a process of their own.
it.skipIf(absent.length > 0)(
  `the kernels agree on webgpu, over the software adapter${absent.length > 0 ? ` (skipped: no ${absent.join(', no ')})` : ''}`,
  async () => {
    const runtime = mkdtempSync(join(tmpdir(), 'recredit-webgpu-'));
    try {
      const outputFile = join(runtime, 'report.json');
      await promisify(execFile)(
        process.execPath,
        [
          'node_modules/vitest/vitest.mjs',
          'run',
          '--project',
          'unit',
          '--reporter',
          'json',
          '--outputFile',
          outputFile,
          'libs/tensor/src/kernels.spec.ts',
          'libs/tensor/src/similarity.spec.ts',
          'libs/tensor/src/networks.spec.ts',
        ],
        {
          env: {
            ...process.env,
            RECREDIT_TEST_DEVICE: 'webgpu',
            LD_LIBRARY_PATH: CHROMIUM,
            VK_ICD_FILENAMES: DRIVER,
            VK_DRIVER_FILES: DRIVER,
            XDG_RUNTIME_DIR: runtime,
          },
          maxBuffer: 16 * 2 ** 20,
        },
      ).catch(() => {});
      const report = JSON.parse(readFileSync(outputFile, 'utf8')) as {
        numPassedTests: number;
        testResults: { assertionResults: { status: string; fullName: string; failureMessages: string[] }[] }[];
      };
      const failed = report.testResults.flatMap(({ assertionResults }) =>
        assertionResults.filter(({ status }) => status === 'failed'),
      );
      expect(failed.map(({ fullName, failureMessages }) => `${fullName}: ${failureMessages[0]}`)).toEqual([]);
      expect(report.numPassedTests).toBeGreaterThan(20);
    } finally {
      rmSync(runtime, { recursive: true, force: true });
    }
  },
  900_000,
);
