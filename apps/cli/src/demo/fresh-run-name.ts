import type { ApiClient } from '../client/api-client.js';

/** `demo`, `demo-2`, `demo-3`: the first that no run has, so that every demo is a run of its own. */
export async function freshRunName(api: ApiClient): Promise<string> {
  for (let number = 1; ; number++) {
    const name = number === 1 ? 'demo' : `demo-${number}`;
    const { run } = await api.query<{ run: { id: string } | null }>('query ($name: ID!) { run(id: $name) { id } }', {
      name,
    });
    if (!run) return name;
  }
}
