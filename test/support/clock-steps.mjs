// Preloaded into a process (`node --import`): its wall clock is off by as many milliseconds as the file says that
// RECREDIT_TEST_CLOCK names, looked at 20 times a second. `performance.now()` goes on steadily, as the kernel's
// monotonic clock does when somebody sets the time.
import { readFileSync } from 'node:fs';

const RealDate = Date;
const file = process.env.RECREDIT_TEST_CLOCK;
let offset = 0;
const look = () => {
  try {
    offset = Number(readFileSync(file, 'utf8'));
  } catch {
    // not written yet
  }
};
look();
setInterval(look, 50).unref();

globalThis.Date = class Date extends RealDate {
  constructor(...args) {
    if (args.length === 0) super(RealDate.now() + offset);
    else super(...args);
  }

  static now() {
    return RealDate.now() + offset;
  }

  static [Symbol.hasInstance](value) {
    return value instanceof RealDate;
  }
};
