/** What docs/operations.md says to do at the event store's server, run as it stands there. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { jsonEvent } from '@eventstore/db-client';
import { connect, disconnect } from '../../src/adapters/eventstoredb/client.js';
import { type OwnServer, startOwnServer } from '../services/eventstoredb/own-server.js';
import { fileOf } from '../support/operations-chapter.js';

let server: OwnServer;

beforeEach(async () => {
  server = await startOwnServer();
});

afterEach(() => server.stop());

/** What stands between `node --input-type=module <<'EOF'` and EOF, after this heading. */
async function runDocumented(heading: string, env: Record<string, string> = {}): Promise<void> {
  const [, chapter = ''] = fileOf('docs/operations.md').split(`\n### ${heading}\n`);
  const script = /^node --input-type=module <<'EOF'\n(.*?)^EOF$/ms.exec(chapter)?.[1];
  if (!script) throw new Error(`docs/operations.md has no script for node under ${heading}`);
  await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script], {
    env: { PATH: process.env.PATH ?? '', ADMIN_URL: server.url, ...env },
  });
}

test('the documented command lets $admins and the group webhooks read $all', async () => {
  await runDocumented('Users and rights');
  const client = connect(server.url);
  const { metadata } = await client.getStreamMetadata('$all');
  await disconnect(client);
  expect(metadata).toEqual({ acl: { readRoles: ['$admins', 'webhooks'] } });
});

test('the documented command undeletes a stream, with all of its events', async () => {
  const client = connect(server.url);
  for (const type of ['First', 'Second']) await client.appendToStream('account-42', jsonEvent({ type, data: {} }));
  await client.deleteStream('account-42');
  await runDocumented("Metadata of accounts' streams", { STREAM: 'account-42' });
  const types = [];
  for await (const { event } of client.readStream('account-42')) types.push(event?.type);
  await disconnect(client);
  expect(types).toEqual(['First', 'Second']);
});
