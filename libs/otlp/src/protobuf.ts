import { RecreditError } from '#lib/kernel';

/** Wire types of protobuf. Groups (3, 4) are of its past and in no message of OTLP. */
const VARINT = 0;
const FIXED64 = 1;
const BYTES = 2;
const FIXED32 = 5;

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/**
 * Reads the wire format of protobuf (protobuf.dev/programming-guides/encoding), which is all that OTLP needs: no
 * schema, no reflection. A field that nobody asks for is stepped over; one of another wire type than asked is refused.
 */
export class ProtobufReader {
  #at = 0;
  #wire = 0;
  readonly #view: DataView;

  constructor(private readonly bytes: Uint8Array) {
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  /** The number of the next field; 0 at the end. A field that was not read is skipped by the next call. */
  *fields(): Generator<number> {
    while (this.#at < this.bytes.length) {
      const key = this.#varint();
      const field = Number(key >> 3n);
      this.#wire = Number(key & 7n);
      if (field === 0) throw damaged('field 0');
      const before = this.#at;
      yield field;
      if (this.#at === before) this.#skip();
    }
  }

  message(): ProtobufReader {
    return new ProtobufReader(this.raw());
  }

  text(): string {
    const bytes = this.raw();
    try {
      return utf8.decode(bytes);
    } catch {
      throw damaged('text that is not UTF-8');
    }
  }

  raw(): Uint8Array {
    this.#expect(BYTES);
    return this.#take(this.#varint());
  }

  /** int64, from its two's complement */
  int64(): bigint {
    this.#expect(VARINT);
    return BigInt.asIntN(64, this.#varint());
  }

  int32(): number {
    return Number(BigInt.asIntN(32, this.int64()));
  }

  bool(): boolean {
    return this.int64() !== 0n;
  }

  fixed64(): bigint {
    this.#expect(FIXED64);
    const at = this.#advance(8);
    return this.#view.getBigUint64(at, true);
  }

  fixed32(): number {
    this.#expect(FIXED32);
    return this.#view.getUint32(this.#advance(4), true);
  }

  double(): number {
    this.#expect(FIXED64);
    return this.#view.getFloat64(this.#advance(8), true);
  }

  #expect(wire: number): void {
    if (this.#wire !== wire) throw damaged(`wire type ${this.#wire} where ${wire} belongs`);
  }

  #skip(): void {
    switch (this.#wire) {
      case VARINT:
        this.#varint();
        return;
      case FIXED64:
        this.#advance(8);
        return;
      case BYTES:
        this.#take(this.#varint());
        return;
      case FIXED32:
        this.#advance(4);
        return;
      default:
        throw damaged(`wire type ${this.#wire}`);
    }
  }

  #varint(): bigint {
    let value = 0n;
    for (let shift = 0n; shift < 70n; shift += 7n) {
      const byte = this.bytes[this.#advance(1)];
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return BigInt.asUintN(64, value);
    }
    throw damaged('a number of more than ten bytes');
  }

  #take(length: bigint): Uint8Array {
    if (length > BigInt(this.bytes.length - this.#at)) throw damaged(`a field of ${length} bytes`, this.bytes.length);
    const at = this.#advance(Number(length));
    return this.bytes.subarray(at, this.#at);
  }

  #advance(bytes: number): number {
    const at = this.#at;
    if (at + bytes > this.bytes.length) throw damaged('an end in the middle of a field');
    this.#at += bytes;
    return at;
  }
}

function damaged(found: string, of?: number): RecreditError {
  const where = of === undefined ? '' : ` in a message of ${of}`;
  return new RecreditError('request.invalid', `an ExportTraceServiceRequest was wanted, found ${found}${where}`);
}
