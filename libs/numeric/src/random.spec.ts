import { describe, expect, it } from 'vitest';
import { hash32, hash53, hashUnit, hashUnits, seededRandom } from './random.js';

describe('seededRandom', () => {
  it('repeats itself for the same seed and nothing else', () => {
    const draw = (seed: string | number) => {
      const random = seededRandom(seed);
      return [random.next(), random.next(), random.next()];
    };
    expect(draw('a')).toEqual(draw('a'));
    expect(draw('a')).not.toEqual(draw('b'));
    expect(draw(1)).toEqual(draw('1'));
  });

  it('stays the stream it was: stored results depend on it', () => {
    const random = seededRandom(42);
    expect([random.next(), random.next(), random.next()]).toMatchInlineSnapshot(`
      [
        0.8815036318264902,
        0.9634889676235616,
        0.8203516744542867,
      ]
    `);
  });

  it('is uniform, and normal where asked', () => {
    const random = seededRandom('moments');
    const uniform = Array.from({ length: 20_000 }, () => random.next());
    const normal = Array.from({ length: 20_000 }, () => random.normal());
    const mean = (values: number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
    expect(mean(uniform)).toBeCloseTo(0.5, 1.5);
    expect(mean(normal)).toBeCloseTo(0, 1.5);
    expect(mean(normal.map((value) => value * value))).toBeCloseTo(1, 1.2);
  });

  it('draws whole numbers below a bound, each about as often', () => {
    const random = seededRandom('dice');
    const counts = [0, 0, 0, 0, 0, 0];
    for (let i = 0; i < 6000; i++) counts[random.integer(6)]++;
    for (const count of counts) expect(Math.abs(count - 1000)).toBeLessThan(150);
  });
});

describe('hashes of texts', () => {
  it('differ with the text and the seed', () => {
    expect(hash32('a')).not.toBe(hash32('b'));
    expect(hash32('a')).not.toBe(hash32('a', 1));
    expect(hash32('ab')).not.toBe(hash32('ba'));
    expect(hash53('')).toBeLessThan(2 ** 53);
  });

  it('do not collide over ids that differ in a digit', () => {
    const ids = Array.from({ length: 50_000 }, (_, i) => `run-1\n${i}`);
    expect(new Set(ids.map((id) => hash53(id))).size).toBe(ids.length);
  });

  it('place many texts as they place each', () => {
    const texts = ['', 'a', 'trajectory-12', 'né', '\ud800 alone', 'x'.repeat(300)];
    for (const seed of [0, 7]) {
      expect([...hashUnits('run 1\n', texts, seed)]).toEqual(texts.map((text) => hashUnit(`run 1\n${text}`, seed)));
    }
  });

  it('stay the hashes they were: which trajectories are sampled depends on them', () => {
    expect([hash32('trajectory-1'), hash32('', 3), hash53('run\nid')]).toEqual([
      1825363583, 2247144487, 4702889819572537,
    ]);
  });

  it('place ids evenly between 0 and 1', () => {
    const chosen = Array.from({ length: 20_000 }, (_, i) => `t${i}`).filter((id) => hashUnit(id) < 0.1);
    expect(Math.abs(chosen.length - 2000)).toBeLessThan(150);
  });
});
