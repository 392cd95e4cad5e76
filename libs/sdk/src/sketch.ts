/** A sketch of parameters, as `Run.checkpoint` takes it. */
export interface Sketch {
  /** the tensors' numbers one after the other, in the order of `tensors` */
  readonly sketch: Float32Array;
  readonly tensors: readonly { readonly name: string; readonly size: number }[];
  /** how it was made: what was made otherwise cannot be compared with it */
  readonly projection: { readonly method: 'count-sketch'; readonly dimensions: number; readonly seed: number };
}

export interface SketchOptions {
  /** numbers per group of tensors; the error of a length is about 1/√dimensions of it */
  readonly dimensions?: number;
  readonly seed?: number;
  /** tensors of one group are sketched as if they were one; by default the layers of a kind: `layers.*.mlp.weight` */
  readonly groupOf?: (name: string) => string;
}

/**
 * Parameters in few numbers, from which lengths of their ways and angles between them can be told: per group of tensors
 *
 *     s_b = Σ_(i in bin b) sign_i θ_i,   E ⟨s(x), s(y)⟩ = ⟨x, y⟩
 *
 * Bin and sign are a hash of the seed, the tensor's name and the index i. One pass, no matrix; the Python SDK makes the
 * same numbers.
 *
 * Source: the count sketch of Charikar, Chen and Farach-Colton, Finding Frequent Items in Data Streams, 2002.
 *
 * @param tensors [name][parameters], in any order
 */
export function sketchOf(
  tensors: Readonly<Record<string, ArrayLike<number>>>,
  { dimensions = 1024, seed = 0, groupOf = layersTogether }: SketchOptions = {},
): Sketch {
  const groups = new Map<string, Float64Array>();
  for (const name of Object.keys(tensors)) {
    const group = groupOf(name);
    const sums = groups.get(group) ?? new Float64Array(dimensions);
    groups.set(group, sums);
    addSketch(sums, tensors[name], hashOfName(name, seed));
  }
  const names = [...groups.keys()].sort();
  return {
    sketch: Float32Array.from(names.flatMap((name) => [...groups.get(name)!])),
    tensors: names.map((name) => ({ name, size: dimensions })),
    projection: { method: 'count-sketch', dimensions, seed },
  };
}

/** `model.layers.11.mlp.weight` is one of `model.layers.*.mlp.weight`. */
function layersTogether(name: string): string {
  return name.replace(/(^|\.)\d+(?=\.|$)/g, '$1*');
}

function addSketch(sums: Float64Array, values: ArrayLike<number>, salt: number): void {
  for (let i = 0; i < values.length; i++) {
    const hash = mixed(mixed((i ^ salt) >>> 0) + Math.floor(i / 2 ** 32));
    sums[(hash >>> 1) % sums.length] += hash & 1 ? -values[i] : values[i];
  }
}

/** FNV-1a of the name's UTF-8, from the seed. */
function hashOfName(name: string, seed: number): number {
  let hash = mixed(seed) ^ 0x811c9dc5;
  for (const byte of new TextEncoder().encode(name)) hash = Math.imul(hash ^ byte, 0x01000193);
  return mixed(hash);
}

/** Murmur3's last step: 32 bits in, 32 bits out, each of them on all the others. */
function mixed(bits: number): number {
  let hash = bits | 0;
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}
