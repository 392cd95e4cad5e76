import { Args, Context, ID, Query, Resolver } from '@nestjs/graphql';
import { raterAgreement } from '#lib/diagnostics';
import { RecreditError } from '#lib/kernel';
import type { RequestContext } from '../graphql/request-context.js';
import { runByIdOrName } from '../runs/run.reader.js';
import { LabelReport } from './label.object.js';
import { labelsOf } from './label.reader.js';

const LABEL_SIGNALS = ['humanLabel', 'judgeLabel'];
const MAX_SIGNALS = 8;

@Resolver(() => LabelReport)
export class LabelResolver {
  @Query(() => LabelReport, { nullable: true, description: 'How far those who labelled the turns of a run agree.' })
  async labels(
    @Args('run', { type: () => ID, description: 'Id, or name among the runs the caller sees.' }) run: string,
    @Args('signals', {
      type: () => [String],
      nullable: true,
      description: `Turn signals with labels -1, 0, 1; ${LABEL_SIGNALS.join(' and ')} if not said.`,
    })
    signals: readonly string[] | null | undefined,
    @Context() { db }: RequestContext,
  ): Promise<LabelReport | null> {
    const wanted = [...new Set(signals ?? LABEL_SIGNALS)];
    if (wanted.length > MAX_SIGNALS)
      throw new RecreditError('query.invalid', `signals: up to ${MAX_SIGNALS} were wanted, found ${wanted.length}`);
    const found = await runByIdOrName(db, run);
    if (!found) return null;
    const { turnOffsets, dataset, raters, sampled } = await labelsOf(db, found.id, wanted);
    return { run: found.id, sampled, ...raterAgreement(turnOffsets, raters, dataset) };
  }
}
