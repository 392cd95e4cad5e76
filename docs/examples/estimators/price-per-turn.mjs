// A user's own estimator: docs/guides/your-own-estimator.md explains it.
// What is left of the outcome after every turn has cost its price, against the mean of the group.
export default {
  id: 'price-per-turn',
  title: 'Outcome minus a price per turn, against its group',
  gives: 'advantage',
  levels: ['trajectory'],
  groupRelative: true,
  requires: ['trajectory.outcomeReward'],
  params: {
    type: 'object',
    properties: {
      price: { type: 'number', minimum: 0, default: 0.01, description: 'what a turn costs' },
    },
  },

  estimate({ turnOffsets, groupOf, groupCount }, columns, { price }, { numeric }) {
    const outcome = columns['trajectory.outcomeReward'];
    const reward = outcome.map((value, i) => value - price * (turnOffsets[i + 1] - turnOffsets[i]));
    const { mean } = numeric.segmentMoments(reward, null, groupOf, groupCount);
    return {
      level: 'trajectory',
      values: reward.map((value, i) => value - mean[groupOf[i]]),
      explain: { trajectoryReward: { level: 'trajectory', values: reward } },
    };
  },
};
