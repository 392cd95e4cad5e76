import type { Confined } from '#lib/access';
import DataLoader from 'dataloader';
import { connection, pageOf, type Connection, type Page, type PageArgs } from '../graphql/connection.js';
import type { Trajectory, Turn } from './trajectory.object.js';
import { BY_INDEX, turnPages, turnsOfPlaces } from './trajectory.reader.js';

interface TurnsOf {
  readonly trajectory: Trajectory;
  readonly page: Page;
}

/** Loads pages of turns from the log: two statements per run, however many trajectories there are. */
export function turnsLoader(db: Confined) {
  const loader = new DataLoader<TurnsOf, Connection<Turn>, string>(
    async (wanted) => {
      const pages = new Map<TurnsOf, Connection<Turn>>();
      const alike = Map.groupBy(wanted, ({ trajectory, page }) => JSON.stringify([trajectory.run, page]));
      for (const same of alike.values()) {
        const [{ page }] = same;
        const trajectories = same.map(({ trajectory }) => trajectory);
        const found = await turnPages(db, trajectories, page.size + 1, page.after && Number(page.after[0]));
        for (const one of same) pages.set(one, connection(page, BY_INDEX, found.get(one.trajectory.id) ?? []));
      }
      return wanted.map((one) => pages.get(one)!);
    },
    { cacheKeyFn: ({ trajectory, page }) => JSON.stringify([trajectory.run, trajectory.firstPosition, page]) },
  );
  return {
    load: ({ trajectory, page }: { readonly trajectory: Trajectory; readonly page: PageArgs }) =>
      loader.load({ trajectory, page: pageOf(page, BY_INDEX) }),
  };
}

interface TurnAddress {
  readonly run: string;
  readonly trajectory: string;
  readonly turn: number;
}

/** Loads single turns from the log: two statements per run, however many turns there are. */
export function turnLoader(db: Confined) {
  return new DataLoader<TurnAddress, Turn | null, string>(
    async (wanted) => {
      const turns = new Map<TurnAddress, Turn | null>();
      for (const [run, same] of Map.groupBy(wanted, (one) => one.run)) {
        const found = await turnsOfPlaces(db, run, same);
        same.forEach((one, i) => turns.set(one, found[i]));
      }
      return wanted.map((one) => turns.get(one)!);
    },
    { cacheKeyFn: ({ run, trajectory, turn }) => JSON.stringify([run, trajectory, turn]) },
  );
}
