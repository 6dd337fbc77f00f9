/** How a program of EVENTSTOREDB_COMMAND is started and ended, on the test server as a program of its own. */
import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { temporaryDirectory } from '../../support/temporary-directory.js';
import { collect, event, failure, harness, numbers } from './harness.js';
import { isFree, startRealServer } from './real-server.js';

const PROGRAM = fileURLToPath(new URL('./server-program.js', import.meta.url));

const { client: connect, onEnd } = harness();
let folder: ReturnType<typeof temporaryDirectory>;
beforeAll(() => {
  folder = temporaryDirectory();
});
afterAll(() => folder.remove());

/** A program: a shell script of these lines. */
function script(name: string, ...lines: string[]): string {
  const path = join(folder.path, name);
  writeFileSync(path, ['#!/bin/sh', ...lines, ''].join('\n'));
  chmodSync(path, 0o755);
  return path;
}

test('it is killed with all that its script started, and keeps what it acknowledged until it is stopped', async () => {
  const told = join(folder.path, 'told');
  const server = await startRealServer(
    script('starts', `echo "$2" > '${told}'`, `'${PROGRAM}' "$1" "$2"`, 'echo ended'),
  );
  onEnd(() => server.stop());
  const client = connect(server.url);
  await client.appendToStream('a', event(1));
  await server.kill();
  expect(await failure(client.appendToStream('a', event(2)))).toMatchObject({ code: 14 });
  expect(await isFree(server.port)).toBe(true);
  await server.revive();
  expect(numbers(await collect(connect(`${server.url}&keepAliveInterval=20000`).readStream('a')))).toEqual([1]);
  await server.stop();
  expect(await isFree(server.port)).toBe(true);
  expect(existsSync(dataFolder(told))).toBe(false);
});

function dataFolder(told: string): string {
  return readFileSync(told, 'utf8').trim();
}

test('a program that ends at once: the error has its code and what it said', async () => {
  const starting = startRealServer(script('ends', 'echo out', 'echo "no licence" >&2', 'exit 3'));
  await expect(starting).rejects.toThrow(
    /ends \d+ \/.*: no EventStoreDB came up, it ended with 3\n(out\nno licence\n|no licence\nout\n)$/,
  );
});
