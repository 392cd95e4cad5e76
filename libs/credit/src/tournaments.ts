/** Scores of a judged pair: what i got against j, and j against i. */
export type Duel = (i: number, j: number) => readonly [ofI: number, ofJ: number];

/** What a tournament gives: a reward per player in 0 .. 1, the higher the better, and how many duels it looked at. */
export interface Ranking {
  readonly rewards: readonly number[];
  readonly calls: number;
}

const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
const indices = (n: number) => Array.from({ length: n }, (_, i) => i);

/** The higher the score the better: r = (worst rank − rank) / (worst rank − 1), rank = 1 + how many score more; all tied: 0. */
function byRank(scores: readonly number[]): number[] {
  const ranks = scores.map((score) => 1 + scores.filter((other) => other > score).length);
  const worst = Math.max(...ranks);
  return ranks.map((rank) => (worst === 1 ? 0 : (worst - rank) / (worst - 1)));
}

/** r = 1 − k / (n − 1) for the player in place k. */
function byPlace(order: readonly number[]): number[] {
  const rewards = new Array<number>(order.length);
  order.forEach((player, k) => (rewards[player] = 1 - k / (order.length - 1)));
  return rewards;
}

/** Everybody against the first one; its own score is the mean of what it got. */
function anchorScores(n: number, duel: Duel): { scores: number[]; calls: number } {
  const games = indices(n - 1).map((i) => duel(i + 1, 0));
  return { scores: [mean(games.map(([, ofAnchor]) => ofAnchor)), ...games.map(([own]) => own)], calls: n - 1 };
}

/** n − 1 duels, all with the first player. */
export function anchorRanking(n: number, duel: Duel): Ranking {
  const { scores, calls } = anchorScores(n, duel);
  return { rewards: byRank(scores), calls };
}

/** Everybody against everybody: a win counts 1, a tie a half. */
export function roundRobinRanking(n: number, duel: Duel): Ranking {
  const points = new Array<number>(n).fill(0);
  for (let i = 0; i < n; i++) {
    for (let j = i + 1; j < n; j++) {
      const [a, b] = pointsOf(duel(i, j));
      points[i] += a;
      points[j] += b;
    }
  }
  return { rewards: byRank(points), calls: (n * (n - 1)) / 2 };
}

const pointsOf = ([a, b]: readonly [number, number]) => (a === b ? [0.5, 0.5] : [Number(a > b), Number(b > a)]);

/** All scores that each player got so far; its average decides among losers of one round. */
class ScoreSheet {
  constructor(
    private readonly scores: number[][],
    public calls: number,
  ) {}

  average(player: number): number {
    return mean(this.scores[player]);
  }

  /** Plays one duel; of equal scores the first wins. */
  play(first: number, second: number, duel: Duel): { winner: number; loser: number } {
    const [a, b] = duel(first, second);
    this.scores[first].push(a);
    this.scores[second].push(b);
    this.calls++;
    return a >= b ? { winner: first, loser: second } : { winner: second, loser: first };
  }

  /** Best average first; equal ones as they were. */
  sorted(players: readonly number[]): number[] {
    return players.toSorted((a, b) => this.average(b) - this.average(a));
  }
}

/** Places of a bracket in which the best seeds meet last; those without a player are left out, which shifts the pairs. */
function bracketOf(n: number): number[] {
  let places = [0];
  while (places.length < n) {
    const size = 2 * places.length;
    places = places.flatMap((place) => [place, size - 1 - place]);
  }
  return places.filter((place) => place < n);
}

/** Seeded by duels with the first player, then knock-out; an odd player gets a bye and stands first in the next round. */
export function singleEliminationRanking(n: number, duel: Duel): Ranking {
  const anchor = anchorScores(n, duel);
  const sheet = new ScoreSheet(
    anchor.scores.map((score) => [score]),
    anchor.calls,
  );
  const seeds = sheet.sorted(indices(n));
  let players = bracketOf(n).map((place) => seeds[place]);
  const losers: number[][] = [];
  while (players.length > 1) {
    const bye = players.length % 2 === 1 ? [players[players.length - 1]] : [];
    const games = indices(Math.floor(players.length / 2)).map((k) => sheet.play(players[2 * k], players[2 * k + 1], duel)); // prettier-ignore
    losers.push(games.map(({ loser }) => loser));
    players = [...bye, ...games.map(({ winner }) => winner)];
  }
  const order = [...players, ...losers.toReversed().flatMap((round) => sheet.sorted(round))];
  return { rewards: byPlace(order), calls: sheet.calls };
}

/** A round in which pairs are taken from the end; who is left over comes first in the next one. */
function roundFromTheEnd(players: readonly number[], sheet: ScoreSheet, duel: Duel) {
  const left = [...players];
  const [winners, losers]: [number[], number[]] = [[], []];
  while (left.length > 1) {
    const first = left.pop()!;
    const { winner, loser } = sheet.play(first, left.pop()!, duel);
    winners.push(winner);
    losers.push(loser);
  }
  return { winners: [...left, ...winners], losers };
}

/** No seeding. Who lost twice is out; the last one of the losers may still win the grand final. */
export function doubleEliminationRanking(n: number, duel: Duel): Ranking {
  const sheet = new ScoreSheet(
    indices(n).map(() => []),
    0,
  );
  let winners = indices(n);
  let hoping: number[] = [];
  const out: number[][] = [];
  const playLosers = () => {
    const round = roundFromTheEnd(hoping, sheet, duel);
    hoping = round.winners;
    out.push(round.losers);
  };
  while (winners.length > 1) {
    const round = roundFromTheEnd(winners, sheet, duel);
    winners = round.winners;
    hoping = [...hoping, ...round.losers];
    if (hoping.length > 1) playLosers();
  }
  while (hoping.length > 1) playLosers();
  const final = sheet.play(winners[0], hoping[0], duel);
  const order = [final.winner, final.loser, ...out.toReversed().flatMap((round) => sheet.sorted(round))];
  return { rewards: byPlace(order), calls: sheet.calls };
}

/** Rounds among equals: who has as many points meets whom it has not met; ties share the mean of their places' rewards. */
export function swissRanking(n: number, duel: Duel, maxNumRounds: number | null): Ranking {
  const points = new Array<number>(n).fill(0);
  const met = indices(n).map(() => new Set<number>());
  const rounds = Math.min(maxNumRounds ?? Math.ceil(Math.log2(n)), n - 1);
  let calls = 0;
  for (let round = 0; round < rounds; round++) {
    const free = indices(n).toSorted((a, b) => points[b] - points[a]);
    if (free.length % 2 === 1) points[free.pop()!] += 1;
    while (free.length > 1) {
      const player = free.shift()!;
      const unmet = free.findIndex((other) => !met[player].has(other));
      const [other] = free.splice(Math.max(0, unmet), 1);
      const [own, theirs] = pointsOf(duel(player, other));
      points[player] += own;
      points[other] += theirs;
      met[player].add(other);
      met[other].add(player);
      calls++;
    }
  }
  const buchholz = met.map((others) => [...others].reduce((sum, other) => sum + points[other], 0));
  const isAbove = (a: number, b: number) => points[a] > points[b] || (points[a] === points[b] && buchholz[a] > buchholz[b]); // prettier-ignore
  const rewards = indices(n).map((i) => {
    const above = indices(n).filter((j) => isAbove(j, i)).length;
    const tied = indices(n).filter((j) => !isAbove(j, i) && !isAbove(i, j)).length;
    return 1 - (above + (tied - 1) / 2) / (n - 1);
  });
  return { rewards, calls };
}
