import * as fc from 'fast-check';

const flag = fc.constantFrom<boolean | number>(true, false, 1, 0);
const sometimes = <T>(values: fc.Arbitrary<T>) => fc.option(values, { nil: null });
const votes = fc.oneof(flag, fc.array(sometimes(flag), { maxLength: 3 }));

/** The same for all rollouts of a prompt. */
const OF_THE_PROMPT = {
  checklist: [
    [
      { id: 'find', weight: 0.7, dependence: [] },
      { id: 'say', weight: 0.3, dependence: ['find'] },
    ],
    [{ id: 'thank', weight: 1 }],
  ],
  rubricEntities: ['Marie Curie', 'radium', '1903'],
  goldChunks: [7, 9],
  requiredCalls: [
    { id: 'find', name: 'search' },
    { id: 'read', name: 'open', weight: 2 },
  ],
};

/** Signals of a turn, a trajectory and a token that the judge, rubric and process estimators read. */
export const judgeSignals = (number: fc.Arbitrary<number>) => ({
  turn: fc.record({
    userTurn: fc.constantFrom(0, 1),
    satisfied: fc.array(flag, { minLength: 2, maxLength: 2 }),
    processReward: number,
    actualNextState: fc.constantFrom('You are in the hall.', 'Nothing happens.', ''),
    predictedNextState: sometimes(fc.constantFrom('You are in the hall', 'Nothing', '')),
    visibleText: fc.constantFrom('nothing yet', 'Radium, by Marie  Curie', '<useful_chunks><CHUNK_7></useful_chunks>'),
    stepScore: number,
    betterAlternative: flag,
    humanLabel: fc.constantFrom(-1, 0, 1),
    judgeLabel: fc.constantFrom(-1, 0, 1),
    wrong: votes,
    reflection: flag,
    formatScore: flag,
    actionScore: number,
    memoryUsed: sometimes(flag),
    validity: sometimes(number),
    toolName: sometimes(fc.constantFrom('search', 'open', 'shell')),
    argMatch: sometimes(number),
    coversRequired: sometimes(fc.constantFrom('find', 'read', 'other')),
  }),
  trajectory: fc.record({
    ...Object.fromEntries(Object.entries(OF_THE_PROMPT).map(([name, value]) => [name, fc.constant(value)])),
    judgeFailed: sometimes(flag),
    thinkingReward: number,
    finalAnswer: sometimes(fc.constantFrom('7', '8')),
    criteria: fc.array(
      fc.record({ weight: sometimes(number), score: sometimes(number), firstTurn: sometimes(fc.nat({ max: 4 })) }),
      { maxLength: 3 },
    ),
    hasAnswer: flag,
    hasCitation: flag,
    validQueries: number,
    validQueriesBeforeAnswer: number,
    cleanThinks: number,
    answerTokens: number,
    citationScore: number,
    rubricScore: number,
    satisfied: fc.array(flag, { maxLength: 3 }),
    revisedScores: sometimes(fc.array(number, { maxLength: 2 })),
    accuracyByHint: fc.record({ '0': number, '25': number }),
    formatByHint: fc.record({ '0': number, '25': number }),
    historyLength: number,
    actionTypeMatch: flag,
    valueScore: number,
    formatScore: flag,
    judgeScore: number,
    hasVerifier: flag,
    firstError: fc.integer({ min: -1, max: 3 }),
    verdict: votes,
    formatOk: flag,
    abstained: flag,
    covered: fc.subarray(['find', 'read']),
    callBudget: sometimes(number),
  }),
  token: fc.record({ tokenRole: fc.constantFrom('decision', 'content') }),
});

/** A turn that has all of them. */
export const WHOLE_TURN_JUDGED = {
  userTurn: 0,
  satisfied: [true, false],
  processReward: 0,
  actualNextState: '',
  predictedNextState: '',
  visibleText: '',
  stepScore: 0,
  betterAlternative: false,
  humanLabel: 0,
  judgeLabel: 0,
  wrong: false,
  reflection: false,
  formatScore: 0,
  actionScore: 0,
  memoryUsed: false,
  validity: 0,
  toolName: 'search',
  argMatch: 0,
  coversRequired: 'find',
};

/** A trajectory that has all of them. */
export const WHOLE_TRAJECTORY_JUDGED = {
  ...OF_THE_PROMPT,
  judgeFailed: false,
  thinkingReward: 0,
  finalAnswer: '7',
  criteria: [],
  hasAnswer: false,
  hasCitation: false,
  validQueries: 0,
  validQueriesBeforeAnswer: 0,
  cleanThinks: 0,
  answerTokens: 0,
  citationScore: 0,
  rubricScore: 0,
  satisfied: [],
  revisedScores: [],
  accuracyByHint: { '0': 0, '25': 0 },
  formatByHint: { '0': 0, '25': 0 },
  historyLength: 0,
  actionTypeMatch: 0,
  valueScore: 0,
  formatScore: 0,
  judgeScore: 0,
  hasVerifier: false,
  firstError: -1,
  verdict: false,
  formatOk: true,
  abstained: false,
  covered: [],
  callBudget: 1,
};

/** A token that has all of them. */
export const WHOLE_TOKEN_JUDGED = { tokenRole: 'content' };
