import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { RUN_EVENTS } from './run.events.js';
import { upcast } from './upcast.js';
import { eventIssue } from './validators.js';

const FOLDER = join(import.meta.dirname, '../../../test/golden/events');

/**
 * Events as logs hold them, of each version of each type: what was stored once must be read for ever. A file is never
 * edited and its line here is never changed; a new version of a type has a new file, and a line that is added.
 */
const STORED: Readonly<Record<string, string>> = {
  'alert.closed.v1.ndjson': '89206fc7dfc4b1ce3b4b8b3748be8bdde7fc79630fb8570a8bf349cc9b167b9f',
  'alert.opened.v1.ndjson': 'bf582676429b87f29c38fd5b132fb971719de5bf2c4416be240931576ebd64f5',
  'analysis.completed.v1.ndjson': '6c73ad762e300a5f743336bc60c9f8309c7785e75b4acce6ed0161299603c3f5',
  'analysis.requested.v1.ndjson': 'de9b586d72d28ec425ee862f435c0c88e4de939fa1530e5ce375cdc3c5835f68',
  'annotation.recorded.v1.ndjson': 'ca1136be914b69511a99589adbf333fc1e53cb5de0d0ddd626e6c87b6bad5364',
  'checkpoint.recorded.v1.ndjson': 'f344494ee697d7214a51cef40f99bc567dc0e6284aff4692f6e50185bde5ecef',
  'run.ended.v1.ndjson': '79e19ec1e1d21abdfb384ae454f56f4a118c3b8fac6733ec5f89fbad9bd1807f',
  'run.erased.v1.ndjson': '53236e7d78e4d0208f862a3575c1221261666adfec4945815b71684f6ac7f86c',
  'run.rewound.v1.ndjson': '58f4e54d11f2ca16786a9af384582470051f3271babb6e1101863dc763a1ef39',
  'run.started.v1.ndjson': '8cd59c6b7891883434fda6b39ad3855851a5d4baf5b775bd6fce5f07063bebd3',
  'trainingStep.recorded.v1.ndjson': 'ab5e0f23443dd9dbda9aa1ac5168a67242a4c8564317766b554110c3cda61db2',
  'trajectory.ended.v1.ndjson': '415b23cfda3f7e5f61f49582eaf7ca242e39fd353836704eb88ef48b344733ff',
  'trajectory.recorded.v1.ndjson': 'a02af9d8e7bd01261b4236885c1b2af5f521033223da31fd0cf64be6e85319c4',
  'turn.recorded.v1.ndjson': 'db2426d8bc9c9ce4adfc6e740588d71aedb264c92f633edd3ffe641dfbd413b5',
};

const linesOf = (name: string) => readFileSync(join(FOLDER, name), 'utf8').trimEnd().split('\n');

it.each(Object.entries(STORED))('%s is as it was stored', (name, sha256) => {
  expect(
    createHash('sha256')
      .update(readFileSync(join(FOLDER, name)))
      .digest('hex'),
  ).toBe(sha256);
});

it('there is a stored example of each version of each event type, and none of anything else', () => {
  const wanted = RUN_EVENTS.flatMap(({ type, version }) =>
    Array.from({ length: version }, (_, i) => `${type}.v${i + 1}.ndjson`),
  );
  expect(readdirSync(FOLDER).toSorted()).toEqual(wanted.toSorted());
  expect(Object.keys(STORED).toSorted()).toEqual(wanted.toSorted());
});

describe.each(Object.keys(STORED))('%s', (name) => {
  const [, type, version] = /^(.+)\.v(\d+)\.ndjson$/.exec(name) ?? [];
  const current = RUN_EVENTS.find((event) => event.type === type);

  it('holds events of that type and version', () => {
    for (const line of linesOf(name)) {
      const stored = JSON.parse(line) as { type: string; version?: number };
      expect([stored.type, stored.version ?? 1]).toEqual([type, Number(version)]);
    }
  });

  it('is read in the shape of today', () => {
    for (const line of linesOf(name)) {
      const event = upcast(JSON.parse(line));
      expect(eventIssue(event.type, event), line).toBeNull();
      expect(event.version ?? 1).toBe(current?.version);
      // what is of the current version already is read as it stands, fields that nobody knows included
      if (Number(version) === current?.version) expect(event).toEqual(JSON.parse(line));
    }
  });
});
