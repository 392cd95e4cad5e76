import { FileCache } from '../../libs/storage/src/file-cache.js';

/** Writes the same ten files into a cache again and again, each time full of another number, until it is killed. */
const cache = await FileCache.open(process.argv[2], { bytes: 5_000_000 });
for (let i = 0; ; i++) {
  await cache.write(`file ${i % 10}`, new Uint8Array(200_000).fill(i % 256));
  if (i === 10) process.send?.('writing');
}
