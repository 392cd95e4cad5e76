/** [rows] label of the cluster of each row, from 0 in the order in which clusters open. */
export interface Clusters {
  readonly labels: Int32Array;
  readonly count: number;
}

/**
 * Online clusters: in the order of the rows, a row joins the first cluster of its group whose first row it resembles, or
 * opens a new one.
 *
 * The order matters, and rows of one cluster need not resemble each other. No cluster spans groups.
 *
 * @param group [rows] from 0
 * @param resembles whether a row resembles the first row of a cluster of its group
 */
export function onlineClusters(group: Int32Array, resembles: (row: number, first: number) => boolean): Clusters {
  const labels = new Int32Array(group.length);
  const firstsOfGroup: number[][] = [];
  let count = 0;
  for (let row = 0; row < group.length; row++) {
    const firsts = (firstsOfGroup[group[row]] ??= []);
    const found = firsts.find((first) => resembles(row, first));
    if (found === undefined) firsts.push(row);
    labels[row] = found === undefined ? count++ : labels[found];
  }
  return { labels, count };
}
