interface EstimatorCost {
  readonly estimator: string;
  readonly device: string;
  readonly seconds: number;
}

/** What an estimator took over all devices that it ran on. */
export interface Cost {
  readonly seconds: number;
  readonly devices: readonly string[];
}

export function costsByEstimator(costs: readonly EstimatorCost[]): Map<string, Cost> {
  return new Map(
    [...Map.groupBy(costs, ({ estimator }) => estimator)].map(([estimator, all]) => [
      estimator,
      { seconds: all.reduce((sum, { seconds }) => sum + seconds, 0), devices: all.map(({ device }) => device) },
    ]),
  );
}
