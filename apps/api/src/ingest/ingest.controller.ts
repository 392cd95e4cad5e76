import { Readable } from 'node:stream';
import { Controller, HttpCode, Inject, Param, Post, Req } from '@nestjs/common';
import { ensureProject, registerRun } from '#lib/access';
import { batchOf } from '#lib/event-log';
import { RecreditError } from '#lib/kernel';
import { MAX_BATCH_BYTES } from '#lib/protocol';
import type { FastifyRequest } from 'fastify';
import { Figures } from '../figures/figures.js';
import { callerOf, seenBy } from '../http/caller.js';
import { PORTS, type ApiPorts } from '../ports.js';
import { Admission } from './admission.js';
import { beginRun } from './begin-run.js';
import { checkBody } from './check-body.js';
import { collectBody, encodingOf } from './decode-body.js';
import { producerHeaders } from './producer-headers.js';
import { parseRunBody } from './run-body.js';
import { RunDirectory } from './run-directory.js';

/** Where trainers write: runs are created, batches appended. */
@Controller('v1/runs')
export class IngestController {
  readonly #admission = new Admission();
  readonly #directory = new RunDirectory();

  constructor(
    @Inject(PORTS) private readonly ports: ApiPorts,
    @Inject(Figures) private readonly figures: Figures,
  ) {}

  @Post()
  @HttpCode(200)
  async createRun(@Req() request: FastifyRequest) {
    const db = seenBy(this.ports, callerOf(request, 'ingest'));
    const { project, name, config } = parseRunBody(request.body);
    const key = request.headers['idempotency-key'];
    await ensureProject(db, project);
    const { run } = await registerRun(db, {
      project,
      name,
      config,
      ...(typeof key === 'string' && { idempotencyKey: key }),
    });
    const position = await beginRun(this.ports.platform, run, project);
    return { id: run.id, project, name: run.name, position };
  }

  @Post(':run/events')
  @HttpCode(200)
  async append(@Req() request: FastifyRequest, @Param('run') runId: string) {
    const caller = callerOf(request, 'ingest');
    const producer = producerHeaders(request.headers);
    this.ports.limiter?.assertWithin(caller, 'eventsPerSecond');
    await this.#directory.assertSeen(runId, caller, seenBy(this.ports, caller));
    const room = this.#admission.enter(MAX_BATCH_BYTES);
    try {
      const encoding = encodingOf(request.headers['content-encoding']);
      const body = await collectBody(bodyOf(request), MAX_BATCH_BYTES);
      room.shrink(body.length);
      const sealed = await (this.ports.bodyChecks?.check({ body, encoding }) ?? checkBody({ body, encoding }));
      const { eventCount, size, payload } = sealed;
      this.ports.limiter?.charge(caller, 'eventsPerSecond', eventCount);
      const { firstPosition, duplicate } = await this.ports.log.append(runId, batchOf(producer, sealed));
      this.figures.took({ events: eventCount, decodedBytes: size, storedBytes: payload.length, duplicate });
      return { firstPosition, eventCount, duplicate };
    } finally {
      room.leave();
    }
  }
}

/** The body as it comes in, unread; what has another type was read by the framework, and may be anything. */
function bodyOf({ body, headers }: FastifyRequest): Readable {
  if (body instanceof Readable) return body;
  const found = headers['content-type'] ?? 'nothing';
  throw new RecreditError('encoding.unknown', `Content-Type: application/x-ndjson was wanted, found ${found}`);
}
