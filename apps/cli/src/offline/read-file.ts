import { openFile } from '#lib/importers';
import { messageOf, RecreditError } from '#lib/kernel';

/** All bytes of a file, decompressed where it is .gz or .zst. */
export async function readWhole(path: string): Promise<Buffer> {
  const file = await openFile(path);
  try {
    const chunks: Uint8Array[] = [];
    for await (const chunk of file.bytes) chunks.push(chunk);
    return Buffer.concat(chunks);
  } catch (error) {
    throw new RecreditError('file.invalid', `${path} cannot be read: ${messageOf(error)}`, {}, { cause: error });
  } finally {
    file.close();
  }
}

export async function readJson(path: string): Promise<unknown> {
  const text = (await readWhole(path)).toString('utf8');
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new RecreditError('file.invalid', `${path} is not JSON: ${messageOf(error)}`, {}, { cause: error });
  }
}
