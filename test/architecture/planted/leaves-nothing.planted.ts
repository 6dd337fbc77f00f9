import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { createServer, type Server } from 'node:net';

let server: Server;
beforeAll(async () => {
  server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});
// Closed by a top-level hook, and not waited for: it is gone a moment later.
afterAll(() => void server.close());

test('leaves nothing', async () => {
  clearInterval(setInterval(() => undefined, 1_000));
  closeSync(openSync(new URL(import.meta.url), 'r'));
  const child = spawn(process.execPath, ['-e', ''], { stdio: 'ignore' });
  expect(await once(child, 'exit')).toEqual([0, null]);
});
