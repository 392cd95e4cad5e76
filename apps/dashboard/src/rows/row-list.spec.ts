import { describe, expect, it } from 'vitest';
import { RowList, type PageWanted } from './row-list.js';

interface Row {
  readonly id: number;
  readonly isFull: boolean;
}

/** A list of numbers, as the API would give it, and what was asked of it. */
function source(count: number) {
  const rows = Array.from({ length: count }, (_, i) => i);
  const asked: string[] = [];
  const gates: (() => void)[] = [];
  const made = {
    rows,
    asked,
    gates,
    failure: null as Error | null,
    isSlow: false,
    ask: async ({ first, after, isFull, isCounted }: PageWanted) => {
      asked.push(`${first} after ${after}${isFull ? '' : ', bare'}${isCounted ? ', counted' : ''}`);
      if (made.isSlow) await new Promise<void>((resolve) => gates.push(resolve));
      if (made.failure) throw made.failure;
      const at = after === null ? 0 : rows.indexOf(Number(after)) + 1;
      const found = rows.slice(at, at + first);
      return {
        edges: found.map((id) => ({ cursor: String(id), node: { id, isFull } })),
        hasMore: at + first < rows.length,
        count: isCounted ? rows.length : undefined,
      };
    },
  };
  return made;
}

const wanted = (of: string, { ask }: ReturnType<typeof source>, startAt?: number) => ({
  of,
  ask,
  keyOf: ({ id }: Row) => String(id),
  pageSize: 50,
  startAt,
  isFull: ({ isFull }: Row) => isFull,
});

const settled = async (list: RowList<Row>, length: number) => {
  await expect.poll(() => list.shown().edges.length).toBe(length);
  await new Promise((resolve) => setTimeout(resolve));
};

describe('a list that is asked for page by page', () => {
  it('is there before somebody sees its end, and no further', async () => {
    const numbers = source(1000);
    const list = new RowList<Row>(new Map(), 'a');
    list.want(wanted('a', numbers));
    await settled(list, 100);
    list.look(0, 30);
    list.look(20, 49);
    await settled(list, 100);
    list.look(40, 60);
    await settled(list, 150);
    expect(numbers.asked).toEqual(['50 after null, counted', '50 after 49', '50 after 99']);
    expect(list.shown()).toMatchObject({ hasMore: true, count: 1000, of: 'a', isStale: false });
  });

  it('ends', async () => {
    const numbers = source(70);
    const list = new RowList<Row>(new Map(), 'a');
    list.want(wanted('a', numbers));
    await settled(list, 70);
    list.look(50, 69);
    list.look(60, 69);
    await settled(list, 70);
    expect(numbers.asked).toHaveLength(2);
    expect(list.shown().hasMore).toBe(false);
  });

  it('opens far down, bare above, and fills in what is looked at', async () => {
    const numbers = source(2000);
    const list = new RowList<Row>(new Map(), 'a');
    list.want(wanted('a', numbers, 720));
    await settled(list, 820);
    expect(numbers.asked).toEqual([
      '500 after null, bare, counted',
      '220 after 499, bare',
      '50 after 719',
      '50 after 769',
    ]);
    expect(list.shown().edges[740].node.isFull).toBe(true);
    list.look(300, 310);
    await expect.poll(() => list.shown().edges[310].node.isFull).toBe(true);
    expect(list.shown().edges[299].node.isFull).toBe(false);
    expect(list.shown().edges.map(({ node }) => node.id)).toEqual(numbers.rows.slice(0, 820));
  });

  it('asks again for what is on screen alone, and lets new rows in there', async () => {
    const numbers = source(500);
    const list = new RowList<Row>(new Map(), 'a');
    list.want(wanted('a', numbers));
    list.look(0, 9);
    await settled(list, 100);
    numbers.asked.length = 0;
    numbers.rows.splice(0, 0, -2, -1);
    list.again();
    await settled(list, 102);
    expect(numbers.asked).toEqual(['10 after null, counted']);
    expect(list.shown().edges.map(({ node }) => node.id)).toEqual(numbers.rows.slice(0, 102));
    list.look(20, 29);
    list.again();
    await expect.poll(() => numbers.asked.at(-1)).toBe('10 after 17, counted');
  });

  it('keeps the old rows until another list has answered, and drops an answer that comes too late', async () => {
    const [slow, fast] = [source(10), source(3)];
    slow.isSlow = true;
    const list = new RowList<Row>(new Map(), 'first');
    list.want(wanted('first', source(20)));
    await settled(list, 20);
    list.want(wanted('slow', slow));
    expect(list.shown()).toMatchObject({ of: 'first', isStale: true });
    list.look(15, 19); // of the old ones
    list.want(wanted('fast', fast));
    await settled(list, 3);
    slow.gates.forEach((open) => open());
    await settled(list, 3);
    expect(list.shown()).toMatchObject({ of: 'fast', isStale: false, count: 3 });
  });

  it('says what failed and stops, until it is asked again', async () => {
    const numbers = source(200);
    numbers.failure = new Error('no database');
    const list = new RowList<Row>(new Map(), 'a');
    list.want(wanted('a', numbers));
    await expect.poll(() => list.shown().error).toBe(numbers.failure);
    list.look(0, 10);
    expect(numbers.asked).toHaveLength(1);
    list.again();
    expect(list.shown().error).toBe(numbers.failure); // nothing flickers while it is tried
    await expect.poll(() => numbers.asked.length).toBe(2);
    numbers.failure = null;
    await new Promise((resolve) => setTimeout(resolve));
    list.again();
    await settled(list, 100);
    expect(list.shown().error).toBeUndefined();
  });

  it('shows at once what somebody comes back to, and asks for it again', async () => {
    const numbers = source(500);
    const kept = new Map();
    const list = new RowList<Row>(kept, 'a');
    list.want(wanted('a', numbers));
    list.look(100, 120);
    await settled(list, 200);
    list.close();
    const back = new RowList<Row>(kept, 'a');
    expect(back.shown()).toMatchObject({ of: 'a', isStale: false, count: 500 });
    numbers.asked.length = 0;
    back.want(wanted('a', numbers, 100));
    await expect.poll(() => numbers.asked).toEqual(['1 after 99, counted']);
    expect(back.shown().edges).toHaveLength(200);
  });
});
