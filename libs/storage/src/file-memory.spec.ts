import { describe, expect, it } from 'vitest';
import { FileMemory } from './file-memory.js';

const MIB = 2 ** 20;

describe('memory for files', () => {
  it('is lent to one at a time, and again when that one gave it back', () => {
    const memory = new FileMemory(8 * MIB);
    const [first, second] = [memory.lend(), memory.lend()];
    const a = first.allocate(1_500_000);
    expect(second.allocate(1_500_000).buffer).not.toBe(a.buffer);
    first.giveBack();
    const again = memory.lend();
    expect(again.allocate(1_400_000).buffer).toBe(a.buffer);
    expect(again.allocate(1_400_000).buffer).not.toBe(a.buffer);
  });

  it('is as long as it was asked for, and wastes at most half', () => {
    const memory = new FileMemory(8 * MIB);
    for (const bytes of [0, 1, 70_000, 98_304, 98_305, 1_500_000, 3 * MIB]) {
      const { allocate } = memory.lend();
      const block = allocate(bytes);
      expect(block.length).toBe(bytes);
      expect(block.buffer.byteLength).toBeLessThanOrEqual(Math.max(65_536, bytes * 1.5));
    }
  });

  it('keeps no more than it may, the latest first, and nothing twice', () => {
    const memory = new FileMemory(3 * MIB);
    const loan = memory.lend();
    const blocks = [MIB, 2 * MIB, MIB].map((bytes) => loan.allocate(bytes));
    loan.allocate(4 * MIB);
    loan.giveBack();
    loan.giveBack();
    const { allocate } = memory.lend();
    expect(allocate(2 * MIB).buffer).toBe(blocks[1].buffer);
    expect(allocate(MIB).buffer).toBe(blocks[2].buffer);
    expect(allocate(MIB).buffer).not.toBe(blocks[0].buffer);
  });
});
