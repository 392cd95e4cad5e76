import { ERROR_STATUS, messageOf, RecreditError, type ErrorCode } from '#lib/kernel';

interface Refusal {
  readonly message: string;
  readonly extensions?: { readonly code?: string; readonly details?: Readonly<Record<string, unknown>> };
}

/** A platform as a client sees it: GraphQL, and downloads. What it refuses is thrown with its own code and words. */
export class ApiClient {
  constructor(
    readonly url: string,
    readonly apiKey: string | null,
  ) {}

  async query<Data>(document: string, variables: Readonly<Record<string, unknown>> = {}): Promise<Data> {
    const response = await this.#fetch('/graphql', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ query: document, variables }),
    });
    const text = await response.text();
    const answer = jsonOf(text) as { data?: Data | null; errors?: readonly Refusal[] } | null;
    const refusal = answer?.errors?.[0];
    if (refusal) throw coded(refusal.extensions?.code, refusal.message, refusal.extensions?.details);
    if (!response.ok || !answer?.data) throw this.#refused(response.status, text);
    return answer.data;
  }

  async download(path: string): Promise<ReadableStream<Uint8Array>> {
    const response = await this.#fetch(path, { method: 'GET' });
    if (!response.ok || !response.body) throw this.#refused(response.status, await response.text());
    return response.body;
  }

  async #fetch(path: string, { headers, ...request }: RequestInit & { headers?: Record<string, string> }) {
    const authorization = this.apiKey ? { authorization: `Bearer ${this.apiKey}` } : {};
    try {
      return await fetch(this.url + path, { ...request, headers: { ...headers, ...authorization } });
    } catch (error) {
      const { cause } = error as { cause?: unknown };
      const code = (cause as NodeJS.ErrnoException | undefined)?.code ?? messageOf(cause ?? error);
      throw new RecreditError(
        'config.invalid',
        `no platform answers at ${this.url} (${code}): start one with \`npm start\`, name another in RECREDIT_URL, or add --embedded`,
        { url: this.url },
        { cause: error },
      );
    }
  }

  #refused(status: number, text: string): RecreditError {
    const problem = jsonOf(text) as { code?: string; detail?: string } | null;
    if (!problem?.code) {
      const said = text.trim().slice(0, 200) || `status ${status}`;
      return new RecreditError('config.invalid', `${this.url} does not answer as a Recredit platform does: ${said}`);
    }
    const hint = status === 401 ? ' (RECREDIT_API_KEY, or the first key in RECREDIT_HOME)' : '';
    return coded(problem.code, `${problem.detail ?? problem.code}${hint}`);
  }
}

function coded(
  code = 'internal.error',
  message: string,
  details: Readonly<Record<string, unknown>> = {},
): RecreditError {
  return new RecreditError(code in ERROR_STATUS ? (code as ErrorCode) : 'internal.error', message, details);
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
