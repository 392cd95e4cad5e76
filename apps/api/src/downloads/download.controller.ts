import { Controller, Get, Inject, Param, Query, Req, Res } from '@nestjs/common';
import { assertNotErased, findRun } from '#lib/access';
import { creditTable, rowTable, trajectoryTable, type StreamRows } from '#lib/columnar';
import { RecreditError } from '#lib/kernel';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import { queryable } from '../graphql/queryable.js';
import { callerOf, seenBy } from '../http/caller.js';
import { LOGGER } from '../logger.js';
import { PORTS, type ApiPorts } from '../ports.js';
import { analysisCredits, analysisOutline } from './analysis-credits.js';
import { DIAGNOSIS_TABLES } from './diagnosis-tables.js';
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

  @Get('runs/:run/diagnostics.arrow')
  diagnostics(
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
    @Param('run') run: string,
  ): Promise<FastifyReply> {
    return this.diagnosis(request, reply, run, 'diagnostics');
  }

  @Get('runs/:run/alerts.arrow')
  alerts(@Req() request: FastifyRequest, @Res() reply: FastifyReply, @Param('run') run: string): Promise<FastifyReply> {
    return this.diagnosis(request, reply, run, 'alerts');
  }

  @Get('runs/:run/plan.arrow')
  plan(@Req() request: FastifyRequest, @Res() reply: FastifyReply, @Param('run') run: string): Promise<FastifyReply> {
    return this.diagnosis(request, reply, run, 'plan');
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

  private async diagnosis(
    request: FastifyRequest,
    reply: FastifyReply,
    idOrName: string,
    name: keyof typeof DIAGNOSIS_TABLES,
  ): Promise<FastifyReply> {
    const confined = seenBy(this.ports, callerOf(request, 'read'));
    const run = await findRun(confined, idOrName);
    assertNotErased(run);
    const { columns, pages } = DIAGNOSIS_TABLES[name];
    const rows = mapped(pages(confined, run.id), (page) => rowTable(columns, page));
    return sendArrow(reply, { fileName: `${run.name}.${name}.arrow`, columns, rows }, this.logger);
  }
}

async function* mapped<Item>(
  items: AsyncIterable<Item>,
  rowsOf: (item: Item) => StreamRows,
): AsyncGenerator<StreamRows> {
  for await (const item of items) yield rowsOf(item);
}
