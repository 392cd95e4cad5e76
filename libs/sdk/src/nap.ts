/** A wait that can be cut short, and that keeps no process alive. */
export class Nap {
  private wake: (() => void) | null = null;

  async sleep(ms: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, ms);
    timer.unref();
    this.wake = resolve;
    await promise;
    clearTimeout(timer);
    this.wake = null;
  }

  end(): void {
    this.wake?.();
  }
}
