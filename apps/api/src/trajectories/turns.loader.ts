import type { Confined } from '#lib/access';
import { RecreditError } from '#lib/kernel';
import DataLoader from 'dataloader';
import { connect, keyFrom, pageSize, type Connection, type PageArgs } from '../graphql/connection.js';
import type { Trajectory, Turn } from './trajectory.object.js';
import { turnPages } from './trajectory.reader.js';

interface TurnsOf {
  readonly trajectory: Trajectory;
  readonly page: PageArgs;
}

/** Loads pages of turns from the log: two statements per run, however many trajectories there are. */
export function turnsLoader(db: Confined) {
  return new DataLoader<TurnsOf, Connection<Turn>, string>(
    async (wanted) => {
      const pages = new Map<TurnsOf, Connection<Turn>>();
      const alike = Map.groupBy(wanted, ({ trajectory, page }) =>
        JSON.stringify([trajectory.run, page.first, page.after]),
      );
      for (const same of alike.values()) {
        const [{ page }] = same;
        const found = await turnPages(
          db,
          same.map(({ trajectory }) => trajectory),
          pageSize(page.first) + 1,
          indexAfter(page),
        );
        for (const one of same) {
          const turns = found.get(one.trajectory.id) ?? [];
          pages.set(
            one,
            await connect(
              page,
              async () => turns,
              ({ index }) => [index],
            ),
          );
        }
      }
      return wanted.map((one) => pages.get(one)!);
    },
    {
      cacheKeyFn: ({ trajectory, page }) =>
        JSON.stringify([trajectory.run, trajectory.firstPosition, page.first, page.after]),
    },
  );
}

function indexAfter({ after }: PageArgs): number | null {
  if (after === undefined) return null;
  const [index] = keyFrom(after);
  if (typeof index === 'number') return index;
  throw new RecreditError('query.invalid', 'after: a cursor of this list of turns was wanted');
}
