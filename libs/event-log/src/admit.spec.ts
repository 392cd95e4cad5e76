import { hash } from 'node:crypto';
import { RecreditError } from '#lib/kernel';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { admit } from './admit.js';
import type { Decision, SealedBatch, StoredBatch } from './batch.js';

/** A batch of two events; `content` stands for its bytes. */
function batch(
  producerId: string,
  sequence: number,
  { epoch = 0, content = `${producerId}${sequence}` } = {},
): SealedBatch {
  const payload = Buffer.from(content);
  const sha256 = hash('sha256', payload, 'buffer');
  return { producerId, epoch, sequence, eventCount: 2, codec: 'zstd', payload, size: payload.length, sha256 };
}

function stored(of: SealedBatch, firstPosition: number): StoredBatch {
  const { producerId, epoch, sequence, sha256, eventCount } = of;
  return { producerId, epoch, sequence, sha256, eventCount, firstPosition };
}

/** "4": stored at position 4, "4 again": it was there, else the code of the refusal. */
function said(decisions: readonly Decision[]): string[] {
  return decisions.map((decision) => {
    if (decision instanceof RecreditError) return decision.code;
    return decision.duplicate ? `${decision.firstPosition} again` : `${decision.firstPosition}`;
  });
}

describe('admit', () => {
  it('stores the first batch of a producer at the next position', () => {
    const { decisions, admitted, nextPosition } = admit(7, [], [batch('p', 0)]);
    expect(said(decisions)).toEqual(['7']);
    expect(admitted.map((each) => each.firstPosition)).toEqual([7]);
    expect(nextPosition).toBe(9);
  });

  it('places the pipelined batches of one group one after the other, each producer by its own sequence', () => {
    const group = [batch('p', 0), batch('q', 0), batch('p', 1), batch('p', 2), batch('q', 1)];
    expect(said(admit(0, [], group).decisions)).toEqual(['0', '2', '4', '6', '8']);
  });

  it('acknowledges a batch again at the position it has, however long ago it came', () => {
    const known = [stored(batch('p', 3), 6), stored(batch('p', 900), 1800)];
    const { decisions, admitted, nextPosition } = admit(1802, known, [batch('p', 3)]);
    expect(said(decisions)).toEqual(['6 again']);
    expect(admitted).toEqual([]);
    expect(nextPosition).toBe(1802);
  });

  it('recognises a batch that came twice within one group', () => {
    const { decisions, admitted } = admit(0, [], [batch('p', 0), batch('p', 0), batch('p', 1), batch('p', 0)]);
    expect(said(decisions)).toEqual(['0', '0 again', '2', '0 again']);
    expect(admitted).toHaveLength(2);
  });

  it('refuses other content under a sequence that is taken, in the log or in the same group', () => {
    const other = batch('p', 0, { content: 'other' });
    const { decisions } = admit(2, [stored(batch('p', 0), 0)], [other]);
    expect(said(decisions)).toEqual(['batch.conflicting']);
    expect(decisions[0]).toMatchObject({ details: { firstPosition: 0, eventCount: 2 } });
    expect(said(admit(0, [], [batch('p', 0), other]).decisions)).toEqual(['0', 'batch.conflicting']);
  });

  it('refuses a gap and says which batch it waits for', () => {
    const [first, later] = [admit(0, [], [batch('p', 1)]), admit(2, [stored(batch('p', 0), 0)], [batch('p', 5)])];
    expect(said([...first.decisions, ...later.decisions])).toEqual(['sequence.unexpected', 'sequence.unexpected']);
    expect(first.decisions[0]).toMatchObject({ status: 409, details: { expected: 0 } });
    expect(later.decisions[0]).toMatchObject({ status: 409, details: { expected: 1 } });
  });

  it('goes on after a refused batch, and what followed it in its own sequence is refused too', () => {
    const group = [batch('p', 0), batch('q', 1), batch('p', 2), batch('p', 3), batch('p', 1)];
    const { decisions, nextPosition } = admit(0, [], group);
    expect(said(decisions)).toEqual(['0', 'sequence.unexpected', 'sequence.unexpected', 'sequence.unexpected', '2']);
    expect(nextPosition).toBe(4);
  });

  it('carries the sequence on across epochs and fences the older one off', () => {
    const known = [stored(batch('p', 0), 0)];
    const group = [
      batch('p', 1, { epoch: 1 }),
      batch('p', 2, { epoch: 0 }),
      batch('p', 1, { epoch: 0 }),
      batch('p', 2, { epoch: 3 }),
      batch('p', 3, { epoch: 1 }),
    ];
    const { decisions } = admit(2, known, group);
    expect(said(decisions)).toEqual(['2', 'producer.fenced', 'producer.fenced', '4', 'producer.fenced']);
    expect(decisions[4]).toMatchObject({ details: { epoch: 3 } });
  });

  it('recognises in a later epoch what an earlier one has sent', () => {
    expect(said(admit(2, [stored(batch('p', 0), 0)], [batch('p', 0, { epoch: 1 })]).decisions)).toEqual(['0 again']);
  });

  it('does not start again at 0 when the epoch goes up', () => {
    const known = [stored(batch('p', 0), 0), stored(batch('p', 1), 2)];
    const restarted = batch('p', 0, { epoch: 1, content: 'a new life' });
    expect(said(admit(4, known, [restarted]).decisions)).toEqual(['batch.conflicting']);
  });

  it('tells producers apart whose ids and sequences could run together', () => {
    const group = [batch('1', 0), batch('1 1', 0), batch('0', 0), batch(' 0', 0), batch('1', 1)];
    expect(said(admit(0, [], group).decisions)).toEqual(['0', '2', '4', '6', '8']);
  });

  it('gives every batch one place without a gap, in whatever order and however often they come', () => {
    const arrival = fc.array(fc.record({ producer: fc.constantFrom('p', 'q', 'r'), sequence: fc.nat(5) }), {
      maxLength: 60,
    });
    fc.assert(
      fc.property(arrival, (arrivals) => {
        const { decisions, admitted, nextPosition } = admit(
          0,
          [],
          arrivals.map(({ producer, sequence }) => batch(producer, sequence)),
        );
        expect(admitted.map((each) => each.firstPosition)).toEqual(admitted.map((_, i) => i * 2));
        expect(nextPosition).toBe(admitted.length * 2);
        expect(new Set(admitted.map((each) => `${each.producerId} ${each.sequence}`)).size).toBe(admitted.length);
        expect(said(decisions).filter((answer) => answer === 'batch.conflicting')).toEqual([]);
        for (const producer of ['p', 'q', 'r']) {
          const sequences = admitted.filter((each) => each.producerId === producer).map((each) => each.sequence);
          expect(sequences).toEqual(sequences.map((_, i) => i));
        }
      }),
    );
  });
});
