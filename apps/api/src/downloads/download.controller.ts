import { Controller, Get, Inject, Param, Query, Req, Res } from '@nestjs/common';
import { assertNotErased, findRun } from '#lib/access';
import { creditTable, trajectoryTable, type StreamRows } from '#lib/columnar';
import { RecreditError } from '#lib/kernel';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import { queryable } from '../graphql/queryable.js';
import { callerOf, seenBy } from '../http/caller.js';
import { LOGGER } from '../logger.js';
import { PORTS, type ApiPorts } from '../ports.js';
import { analysisCredits, analysisOutline } from './analysis-credits.js';
import { sendArrow } from './send-arrow.js';
import { stepRange } from './step-range.js';
import { numericSignals, trajectoryBatches } from './trajectory-batches.js';

/** Where data leaves in columns (docs/guides/arrow-columns.md). */
@Controller('v1')
export class DownloadController {
  constructor(
    @Inject(PORTS) private readonly ports: ApiPorts,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  @Get('runs/:run/trajectories.arrow')
  async trajectories(
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
    @Param('run') idOrName: string,
    @Query('steps') steps: unknown,
  ): Promise<FastifyReply> {
    const confined = seenBy(this.ports, callerOf(request, 'read'));
    const range = stepRange(steps);
    const run = await findRun(confined, idOrName);
    assertNotErased(run);
    const db = queryable(confined);
    const { columns, rowsOf } = trajectoryTable(await numericSignals(db, run.id));
    const rows = mapped(trajectoryBatches(db, this.ports.store, run.id, range), rowsOf);
    return sendArrow(reply, { fileName: `${run.name}.trajectories.arrow`, columns, rows }, this.logger);
  }

  @Get('analyses/:analysis/credit.arrow')
  async credit(
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
    @Param('analysis') id: string,
  ): Promise<FastifyReply> {
    const db = queryable(seenBy(this.ports, callerOf(request, 'read')));
    const analysis = await analysisOutline(db, id);
    if (!analysis) throw new RecreditError('analysis.unknown', `no analysis ${id} among those you see`);
    const { columns, rowsOf } = creditTable(analysis.labels);
    const rows = mapped(analysisCredits(db, this.ports.store, id), rowsOf);
    // of an analysis under way, or with failed shards, this is not all
    void reply.header('recredit-shards', `${analysis.doneCount}/${analysis.shardCount}`);
    return sendArrow(reply, { fileName: `${id}.credit.arrow`, columns, rows }, this.logger);
  }
}

async function* mapped<Item>(
  items: AsyncIterable<Item>,
  rowsOf: (item: Item) => StreamRows,
): AsyncGenerator<StreamRows> {
  for await (const item of items) yield rowsOf(item);
}
