/** The bin of an estimate: an edge goes to the upper one. What is no chance goes to the nearest. */
export const binOf = (chance: number, bins: number) => (chance >= 1 ? bins - 1 : chance > 0 ? (chance * bins) | 0 : 0);
