import { z } from 'zod';

/** A node of a syntax tree as a parser prints it. */
export const SyntaxTree = z.object({
  type: z.string(),
  value: z.json().optional(),
  get children() {
    return z.array(SyntaxTree).optional();
  },
});
export type SyntaxTree = z.infer<typeof SyntaxTree>;

const childrenOf = ({ children }: SyntaxTree) => children ?? [];
const sameNode = (a: SyntaxTree, b: SyntaxTree) =>
  a.type === b.type && JSON.stringify(a.value ?? null) === JSON.stringify(b.value ?? null);

/** How many nodes a tree has. */
export function nodeCountOf(tree: SyntaxTree): number {
  return childrenOf(tree).reduce((sum, child) => sum + nodeCountOf(child), 1);
}

/**
 * A simplified edit distance: 1 where the roots differ; else how many children one has more, plus the distances of the
 * children that both have, in order.
 */
export function simpleEditDistance(a: SyntaxTree, b: SyntaxTree): number {
  if (!sameNode(a, b)) return 1;
  const [left, right] = [childrenOf(a), childrenOf(b)];
  const common = left.slice(0, right.length);
  return common.reduce((sum, child, i) => sum + simpleEditDistance(child, right[i]), Math.abs(left.length - right.length)); // prettier-ignore
}

/** The roots are equal, and each child of `sub` is a partial subtree of SOME child of `full`: two may be of the same one. */
export function isPartialSubtree(full: SyntaxTree, sub: SyntaxTree): boolean {
  return (
    sameNode(full, sub) &&
    childrenOf(sub).every((child) => childrenOf(full).some((other) => isPartialSubtree(other, child)))
  );
}

/**
 * How much of a syntax tree a part of it is.
 *
 *     nodeCountWeight · count(sub) / count(full) + editDistanceWeight · (1 − edit / max(counts))      may exceed 1
 */
export function syntaxTreeSimilarity(
  full: SyntaxTree,
  sub: SyntaxTree,
  { nodeCountWeight, editDistanceWeight }: { readonly nodeCountWeight: number; readonly editDistanceWeight: number },
): number {
  const [whole, part] = [nodeCountOf(full), nodeCountOf(sub)];
  const edit = simpleEditDistance(full, sub);
  return (nodeCountWeight * part) / whole + editDistanceWeight * (1 - edit / Math.max(whole, part));
}
