import { Controller, Get, Header, Inject, Req, Res } from '@nestjs/common';
import { RecreditError } from '#lib/kernel';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { callerOf } from '../http/caller.js';
import { Figures } from './figures.js';

/** What Prometheus scrapes. */
@Controller()
export class FiguresController {
  constructor(@Inject(Figures) private readonly figures: Figures) {}

  /** Of the whole platform, so a key that sees one project does not see them. */
  @Get('metrics')
  @Header('cache-control', 'no-store')
  async metrics(@Req() request: FastifyRequest, @Res({ passthrough: true }) reply: FastifyReply): Promise<string> {
    const caller = callerOf(request, 'read');
    if (caller.projects !== '*') {
      throw new RecreditError('role.missing', 'this needs a key with the role read for all projects; yours is of one');
    }
    void reply.header('content-type', this.figures.contentType);
    return this.figures.text();
  }
}
