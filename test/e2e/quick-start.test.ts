/** The quick start of the README, line by line as it stands there, on ports of its own. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { freePort } from '../services/free-port.js';
import { eventually } from '../support/clocks/eventually.js';
import { fileOf } from '../support/oracles/file-of.js';
import { temporaryDirectory } from '../support/scenes/temporary-directory.js';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const PATIENCE = { timeout: 60_000 };
/** In front of the first terminal's lines: the tests have built. */
const BUILD = 'make build && ';

let folder: ReturnType<typeof temporaryDirectory>;
let terminals: Terminal[] = [];

interface Terminal {
  readonly shell: ChildProcess;
  readonly shown: () => string;
  readonly close: () => Promise<unknown>;
}

beforeEach(() => {
  folder = temporaryDirectory();
  for (const name of ['dist', 'docs']) symlinkSync(join(ROOT, name), join(folder.path, name));
});

afterEach(async () => {
  await Promise.all(terminals.map(({ close }) => close()));
  terminals = [];
  folder.remove();
});

/** Its shell leads a process group, so that what it left in the background ends with it. */
function openTerminal(lines: string, env: Readonly<Record<string, string>>): Terminal {
  const options = { cwd: folder.path, env: { PATH: process.env.PATH ?? '', ...env }, detached: true } as const;
  const shell = spawn('bash', ['-euo', 'pipefail', '-c', lines], { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
  let shown = '';
  for (const stream of [shell.stdout, shell.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      shown += text;
    });
  }
  const closed = once(shell, 'close');
  const close = () => {
    endGroup(shell);
    return closed;
  };
  const terminal = { shell, shown: () => shown, close };
  terminals.push(terminal);
  return terminal;
}

/** SIGTERM to all that the shell started; there may be nothing left. */
function endGroup({ pid = 0 }: ChildProcess): void {
  try {
    process.kill(-pid, 'SIGTERM');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

/** The blocks between "## Quick start" and the next chapter. */
function blocks(receiverPort: number, apiPort: number): string[] {
  const chapter = /^## Quick start\n(.*?)^## /ms.exec(fileOf('README.md'))?.[1] ?? '';
  const found = [...chapter.matchAll(/```sh\n(.*?)```/gs)].map(([, block = '']) => block);
  return found.map((block) =>
    block.replace(BUILD, '').replaceAll('20443', String(receiverPort)).replaceAll('8080', String(apiPort)),
  );
}

test('its receiver verifies the signature of the event', async () => {
  const [receiver, api, admin] = [await freePort(), await freePort(), await freePort()];
  const [first = '', second = '', ...more] = blocks(receiver, api);
  expect(more).toEqual([]);
  const ports = { PORT: String(api), ADMIN_PORT: String(admin) };
  const service = openTerminal(first, ports);
  await eventually(() => service.shown().includes('"msg":"ready"'), { ...PATIENCE, message: 'serve is not ready' });
  const user = openTerminal(second, ports);
  await eventually(() => user.shell.exitCode !== null, { ...PATIENCE, message: 'the second block did not end' });
  expect([user.shell.exitCode, user.shown()]).toEqual([0, expect.stringContaining('webhook registered\n')]);
  expect(user.shown()).toContain('{"success":true,"message":"1 event was published","accepted":1}');
  await eventually(() => /^signature verified: msg_\S+ \{"id":"pay-1",/m.test(user.shown()), PATIENCE);
});
