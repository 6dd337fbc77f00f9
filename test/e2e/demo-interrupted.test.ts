/** demo: Ctrl-C ends it, and leaves nothing behind. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { eventually } from '../support/eventually.js';
import { MAIN } from '../support/service.js';
import { temporaryDirectory } from '../support/temporary-directory.js';

const folder = temporaryDirectory();
afterEach(() => folder.remove());

test('with its master key', async () => {
  const child = spawn(process.execPath, [MAIN, 'demo'], { env: { ...process.env, TMPDIR: folder.path } });
  const ended = once(child, 'close');
  const files = () => readdirSync(folder.path, { recursive: true }).map(String);
  await eventually(() => files().some((file) => file.endsWith(join('data', 'master.key'))), { timeout: 30_000 });
  child.kill('SIGINT');
  expect(await ended).toEqual([130, null]);
  expect(files().filter((file) => file.startsWith('account-webhooks-demo-'))).toEqual([]);
});
