import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { chromium, type Browser, type Page } from 'playwright-core';

const CHROMIUM = process.env.RECREDIT_TEST_CHROMIUM ?? '/usr/bin/chromium';
const FLAGS = ['--headless', '--no-sandbox', '--disable-gpu', '--disable-background-networking'];
const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
/** WCAG 2.2, levels A and AA */
const RULES = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'];

export const hasBrowser = existsSync(CHROMIUM);
export const browserTitle = (what: string) => `${what}, in the browser at ${CHROMIUM} (skipped without one)`;

/** Chromium, and what its pages complain of. */
export class TestBrowser {
  /** errors in the console, and errors that nobody caught, of all pages */
  readonly complaints: string[] = [];

  private constructor(private readonly browser: Browser) {}

  static async launch(): Promise<TestBrowser> {
    return new TestBrowser(await chromium.launch({ executablePath: CHROMIUM, args: FLAGS }));
  }

  /** A page in a session of its own, where nobody has signed in. */
  async newPage(options: Parameters<Browser['newPage']>[0] = {}): Promise<Page> {
    const page = await this.browser.newPage({ viewport: { width: 1280, height: 860 }, ...options });
    page.setDefaultTimeout(15_000);
    page.on('console', (message) => message.type() === 'error' && this.complaints.push(message.text()));
    page.on('pageerror', (error) => this.complaints.push(error.message));
    return page;
  }

  close(): Promise<void> {
    return this.browser.close();
  }
}

/** Charts take their size in the frame after they are there. */
export const painted = (page: Page) =>
  page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done())))');

/** By how many pixels a page is wider than its window; at most 0 is right. */
export const tooWide = (page: Page) => page.evaluate<number>('document.documentElement.scrollWidth - innerWidth');

/** What a page has against the rules of WCAG, each with its places. */
export async function violations(
  page: Page,
  { without = [] }: { without?: readonly string[] } = {},
): Promise<string[]> {
  if (!(await page.evaluate<boolean>('"axe" in globalThis'))) await page.evaluate(AXE);
  const options = {
    runOnly: RULES,
    resultTypes: ['violations'],
    rules: Object.fromEntries(without.map((rule) => [rule, { enabled: false }])),
  };
  return page.evaluate<string[]>(`axe.run(${JSON.stringify(options)}).then(({ violations }) => violations.map(
    ({ id, nodes }) => [id, ...nodes.map(({ html, failureSummary }) => html.slice(0, 200) + failureSummary)].join('\\n')))`);
}
