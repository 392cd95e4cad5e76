import type { AnyEstimator } from '../estimator.js';
import { biLevelGae } from './bi-level-gae.js';
import { dapoDynamicSampling } from './dapo-dynamic-sampling.js';
import { dapoOverlong } from './dapo-overlong.js';
import { discountedReturn } from './discounted-return.js';
import { gae } from './gae.js';
import { gigpo } from './gigpo.js';
import { gpg } from './gpg.js';
import { graft } from './graft.js';
import { grpoPassk } from './grpo-passk.js';
import { grpo } from './grpo.js';
import { hgpo } from './hgpo.js';
import { litePpo } from './lite-ppo.js';
import { lossAggregation } from './loss-aggregation.js';
import { opo } from './opo.js';
import { pbrs } from './pbrs.js';
import { reinforcePlusPlusBaseline } from './reinforce-plus-plus-baseline.js';
import { reinforcePlusPlus } from './reinforce-plus-plus.js';
import { remax } from './remax.js';
import { returnDecomposition } from './return-decomposition.js';
import { rloo } from './rloo.js';
import { rtmc } from './rtmc.js';
import { rudder } from './rudder.js';
import { salt } from './salt.js';
import { spa } from './spa.js';
import { turnWiseGae } from './turn-wise-gae.js';
import { uniformRedistribution } from './uniform-redistribution.js';
import { dopaminePbrs } from './dopamine-pbrs.js';
import { rlvmr } from './rlvmr.js';
import { agentOmit } from './agent-omit.js';
import { hiperHae } from './hiper-hae.js';
import { stepGrpo } from './step-grpo.js';
import { igpo } from './igpo.js';
import { empg } from './empg.js';
import { spae } from './spae.js';
import { mrt } from './mrt.js';
import { slateStep } from './slate-step.js';
import { treeGrpo } from './tree-grpo.js';
import { treerl } from './treerl.js';
import { cm2Checklist } from './cm2-checklist.js';
import { trustGrpo } from './trust-grpo.js';
import { scopeTtrl } from './scope-ttrl.js';
import { longtraceRubric } from './longtrace-rubric.js';
import { deepRubric } from './deep-rubric.js';
import { herlBonus } from './herl-bonus.js';
import { roleAgentWia } from './role-agent-wia.js';
import { ghpo } from './ghpo.js';
import { hiconHcpo } from './hicon-hcpo.js';
import { prmAggregate } from './prm-aggregate.js';
import { pureMinForm } from './pure-min-form.js';
import { spoTree } from './spo-tree.js';
import { spoChain } from './spo-chain.js';
import { mctsValue } from './mcts-value.js';
import { vineppo } from './vineppo.js';
import { proragDual } from './prorag-dual.js';
import { stare } from './stare.js';
import { delta } from './delta.js';
import { lpReg } from './lp-reg.js';
import { dcpo } from './dcpo.js';
import { entropyForkMask } from './entropy-fork-mask.js';
import { klCov } from './kl-cov.js';
import { clipCov } from './clip-cov.js';
import { unifiedPolicyGradient } from './unified-policy-gradient.js';
import { b4 } from './b4.js';
import { dpoImplicit } from './dpo-implicit.js';
import { istar } from './istar.js';
import { primeRloo } from './prime-rloo.js';
import { grpoProcess } from './grpo-process.js';
import { papo } from './papo.js';
import { capo } from './capo.js';
import { pGrpo } from './p-grpo.js';
import { stepFilter } from './step-filter.js';
import { processLabel } from './process-label.js';
import { stepMask } from './step-mask.js';
import { craftGui } from './craft-gui.js';
import { harGui } from './har-gui.js';
import { exprlRubric } from './exprl-rubric.js';
import { sparkProcess } from './spark-process.js';
import { memPi } from './mem-pi.js';
import { recyclingFailures } from './recycling-failures.js';
import { proveProgram } from './prove-program.js';
import { graphgpo } from './graphgpo.js';
import { himac } from './himac.js';
import { hiAgent } from './hi-agent.js';
import { repro } from './repro.js';
import { ltsUsage } from './lts-usage.js';
import { complementaryRl } from './complementary-rl.js';
import { barfi } from './barfi.js';
import { arpo } from './arpo.js';
import { hdpo } from './hdpo.js';
import { hpt } from './hpt.js';
import { hbpo } from './hbpo.js';
import { decs } from './decs.js';
import { rredcot } from './rredcot.js';
import { tpGrpo } from './tp-grpo.js';
import { arenaRank } from './arena-rank.js';
import { marginStepDpo } from './margin-step-dpo.js';
import { treePs } from './tree-ps.js';
import { stepApo } from './step-apo.js';
import { stepQ } from './step-q.js';
import { weightedDpo } from './weighted-dpo.js';
import { appo } from './appo.js';

/** The catalogue is a value: adding an estimator is its file and one line here. */
export const ESTIMATORS: readonly AnyEstimator[] = [
  grpo,
  rloo,
  reinforcePlusPlus,
  litePpo,
  discountedReturn,
  gae,
  gigpo,
  hgpo,
  spa,
  pbrs,
  uniformRedistribution,
  rudder,
  returnDecomposition,
  reinforcePlusPlusBaseline,
  remax,
  opo,
  gpg,
  grpoPassk,
  turnWiseGae,
  biLevelGae,
  lossAggregation,
  dapoDynamicSampling,
  dapoOverlong,
  salt,
  graft,
  rtmc,
  dopaminePbrs,
  rlvmr,
  agentOmit,
  hiperHae,
  stepGrpo,
  igpo,
  empg,
  spae,
  mrt,
  slateStep,
  treeGrpo,
  treerl,
  cm2Checklist,
  trustGrpo,
  scopeTtrl,
  longtraceRubric,
  deepRubric,
  herlBonus,
  roleAgentWia,
  ghpo,
  hiconHcpo,
  prmAggregate,
  pureMinForm,
  spoTree,
  spoChain,
  mctsValue,
  vineppo,
  proragDual,
  stare,
  delta,
  lpReg,
  dcpo,
  entropyForkMask,
  klCov,
  clipCov,
  unifiedPolicyGradient,
  b4,
  dpoImplicit,
  istar,
  primeRloo,
  grpoProcess,
  papo,
  capo,
  pGrpo,
  stepFilter,
  processLabel,
  stepMask,
  craftGui,
  harGui,
  exprlRubric,
  sparkProcess,
  memPi,
  recyclingFailures,
  proveProgram,
  graphgpo,
  himac,
  hiAgent,
  repro,
  ltsUsage,
  complementaryRl,
  barfi,
  arpo,
  hdpo,
  hpt,
  hbpo,
  decs,
  rredcot,
  tpGrpo,
  arenaRank,
  marginStepDpo,
  treePs,
  stepApo,
  stepQ,
  weightedDpo,
  appo,
];
