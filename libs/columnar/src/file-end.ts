const MAGIC = 'ARROW1';
/** Behind the footer: its length as int32, then the magic. */
const TAIL_BYTES = 4 + MAGIC.length;

export function endsInMagic(file: Uint8Array): boolean {
  return file.length > TAIL_BYTES && String.fromCharCode(...file.subarray(-MAGIC.length)) === MAGIC;
}

/** @param file or its last bytes, which end as Arrow files do; below 0: it begins before them */
export function footerStart(file: Uint8Array): number {
  return file.length - TAIL_BYTES - viewOf(file).getInt32(file.length - TAIL_BYTES, true);
}

export const footerOf = (file: Uint8Array) => file.subarray(footerStart(file), -TAIL_BYTES);

export function viewOf({ buffer, byteOffset, byteLength }: Uint8Array): DataView {
  return new DataView(buffer, byteOffset, byteLength);
}
