/** docs/operations.md says how `$all` is opened to a group: its command is run as it stands there. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { connect, disconnect } from '../../src/adapters/eventstoredb/client.js';
import { type OwnServer, startOwnServer } from '../services/eventstoredb/own-server.js';
import { fileOf } from '../support/operations-chapter.js';

let server: OwnServer;

beforeEach(async () => {
  server = await startOwnServer();
});

afterEach(() => server.stop());

/** What stands between `node --input-type=module <<'EOF'` and EOF. */
function documentedScript(): string {
  const script = /^node --input-type=module <<'EOF'\n(.*?)^EOF$/ms.exec(fileOf('docs/operations.md'))?.[1];
  if (!script) throw new Error('docs/operations.md has no script for node');
  return script;
}

test('the documented command lets $admins and the group webhooks read $all', async () => {
  const env = { PATH: process.env.PATH ?? '', ADMIN_URL: server.url };
  await promisify(execFile)(process.execPath, ['--input-type=module', '-e', documentedScript()], { env });
  const client = connect(server.url);
  const { metadata } = await client.getStreamMetadata('$all');
  await disconnect(client);
  expect(metadata).toEqual({ acl: { readRoles: ['$admins', 'webhooks'] } });
});
