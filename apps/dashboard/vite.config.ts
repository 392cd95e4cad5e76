import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import react from '@vitejs/plugin-react';
import { defineConfig, type Plugin } from 'vite';

/** Files that are sent as they are lie beside their source, packed once. */
const packed: Plugin = {
  name: 'recredit-packed',
  apply: 'build',
  // after all others: Vite itself still writes into chunks in generateBundle
  writeBundle({ dir = '' }, bundle) {
    for (const fileName of Object.keys(bundle).filter((name) => /\.(js|css)$/.test(name))) {
      const file = join(dir, fileName);
      const bytes = readFileSync(file);
      writeFileSync(`${file}.br`, brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } }));
      writeFileSync(`${file}.gz`, gzipSync(bytes));
    }
  },
};

export default defineConfig({
  plugins: [react(), packed],
  build: {
    outDir: '../../dist/dashboard',
    emptyOutDir: true,
    assetsInlineLimit: 0, // the policy of the page allows no inline images
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 1500,
    rolldownOptions: {
      checks: { bundlerTimings: false }, // which plugin took how long is no warning
      output: {
        codeSplitting: {
          groups: [{ name: 'echarts', test: /node_modules[\\/](echarts|zrender)/ }],
        },
      },
    },
  },
  server: { proxy: Object.fromEntries(['/graphql', '/session', '/v1'].map((path) => [path, 'http://127.0.0.1:4000'])) },
});
