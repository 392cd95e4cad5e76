import { RecreditError } from '#lib/kernel';
import type { FastifyReply } from 'fastify';

/** Who stops says no to what is new and answers what is under way. */
export class Drain {
  #stopping = false;
  #underWay = 0;
  #settled = Promise.withResolvers<void>();

  get stopping(): boolean {
    return this.#stopping;
  }

  /** Counts a request until its connection is done with it, answered or not. */
  enter(reply: FastifyReply): void {
    this.#underWay++;
    reply.raw.once('close', () => {
      this.#underWay--;
      this.#look();
    });
  }

  /** @throws RecreditError `platform.stopping` */
  assertOpen(): void {
    if (this.#stopping)
      throw new RecreditError('platform.stopping', 'the platform is stopping; come again in a moment');
  }

  /** From now on nothing new is taken. Returns when all that is under way is answered, or the time is over. */
  async begin(patienceMs: number): Promise<void> {
    this.#stopping = true;
    this.#look();
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, patienceMs);
    await Promise.race([this.#settled.promise, promise]);
    clearTimeout(timer);
  }

  #look(): void {
    if (this.#stopping && this.#underWay === 0) this.#settled.resolve();
  }
}
