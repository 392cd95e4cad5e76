/** What a diagnostic is about, in the order in which one asks. The ids are those of the catalogue. */
const TOPICS: readonly (readonly [title: string, ids: readonly string[]])[] = [
  [
    'Learning signal',
    [
      'zero-variance-groups',
      'in-group-spread',
      'credit-profile',
      'anchor-groups',
      'jackknife-stability',
      'gradient-noise-scale',
      'policy-staleness',
      'conservative-floor',
    ],
  ],
  [
    'Progress',
    [
      'pass-at-k',
      'learning-plateau',
      'relex-extrapolation',
      'path-straightness',
      'difficulty-bands',
      'task-forgetting',
      'cumulative-regret',
      'prefix-success',
      'rollout-budget',
      'restart-candidates',
    ],
  ],
  [
    'Entropy and exploration',
    [
      'entropy-step',
      'entropy-moments',
      'entropy-trend',
      'entropy-covariance',
      'entropy-reward-law',
      'surprisal-quadrants',
      'low-probability-tokens',
      'explore-exploit',
      'dataset-coverage',
    ],
  ],
  [
    'What the agent does',
    [
      'loop-stagnation',
      'action-validity',
      'failure-cause',
      'failure-similarity',
      'failure-clusters',
      'tool-efficiency',
      'overthinking',
      'length-reward',
      'memory-lift',
      'hierarchy-profile',
      'token-budget-profile',
    ],
  ],
  [
    'Rewards, credit and judges',
    [
      'reward-components',
      'process-outcome',
      'estimator-agreement',
      'predictor-calibration',
      'credit-vs-labels',
      'label-agreement',
      'first-error',
      'judge-votes',
    ],
  ],
];
const OTHER = 'More';

/** By topic, in the order of the topics and within one in the order given; nothing is left out. */
export function byTopic<Item extends { readonly id: string }>(items: readonly Item[]): [string, Item[]][] {
  const topicOf = ({ id }: Item) => TOPICS.find(([, ids]) => ids.includes(id))?.[0] ?? OTHER;
  const found = Map.groupBy(items, topicOf);
  return [...TOPICS.map(([title]) => title), OTHER].flatMap((title) => {
    const members = found.get(title);
    return members ? [[title, members] as [string, Item[]]] : [];
  });
}
