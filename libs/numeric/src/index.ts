export { AGGREGATES, aggregateRows, softminWeights, type Aggregate } from './aggregate-rows.js';
export { auc, aucOfSides, sortedRows, type SortedRows } from './auc.js';
export {
  comoments,
  correlationOf,
  marginals,
  mergeComoments,
  mergeMoments,
  moments,
  NO_COMOMENTS,
  NO_MOMENTS,
  populationStd,
  type Comoments,
  type Moments,
} from './comoments.js';
export { concordance, type Concordance } from './concordance.js';
export { pearson, spearman } from './correlation.js';
export { areFinite } from './finite.js';
export { indexText, type IndexedText } from './indexed-text.js';
export { logBeta, logGamma } from './log-gamma.js';
export { minMaxScaled } from './min-max.js';
export { allEqual, clamp, LEAST_SPREAD, type Numbers } from './numbers.js';
export { onlineClusters, type Clusters } from './online-clusters.js';
export {
  composeOffsets,
  lastOfRows,
  ownerOf,
  repeatKeys,
  repeatRows,
  rowLengths,
  rowMeans,
  rowSums,
} from './offsets.js';
export { firstRows, pairLabels, repeatedPairLabels } from './pair-labels.js';
export { ridgeWeights, solvePositiveDefinite } from './ridge.js';
export { quantileOfSorted, quantiles } from './quantile.js';
export { hash32, hashUnit, hashUnits, seededRandom, type Random } from './random.js';
export { averageRanks } from './ranks.js';
export { discountedSums, temporalDifferences } from './scans.js';
export { scratchDoubles, scratchInts } from './scratch.js';
export { segmentCentred } from './segment-centred.js';
export { repeatedMoments, segmentMoments, type SegmentMoments } from './segment-moments.js';
export { selectPair, selectQuantiles } from './select.js';
export { textHashes } from './text-hash.js';
export { areSimilar, textSimilarity } from './text-similarity.js';
export { rowsWhere, topRows } from './top-rows.js';
export { unsetDoubles } from './unset.js';
export { whiten } from './whiten.js';
