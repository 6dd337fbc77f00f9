/**
 * A real EventStoreDB that a test has for itself, started by a program: `PROGRAM PORT DATA_FOLDER` runs one node on
 * 127.0.0.1, without TLS, with all projections. It is ready when its /gossip shows a leader, and it ends by SIGKILL.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, readdirSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { eventually } from '../../support/eventually.js';
import { temporaryDirectory } from '../../support/temporary-directory.js';
import { freePort } from '../free-port.js';
import type { OwnServer } from './own-server.js';

const HOST = '127.0.0.1';
const READY_WITHIN_MS = 60_000;
const ANSWER_WITHIN_MS = 2_000;
const MOST_TRIES = 3;
const KEPT_OUTPUT = 4_000;

/** Runs the program, and ends it with whoever started it: a pipe's other end closes even where a process is killed. */
const KEEPER = `exec 3<&0; "$@" 3<&- </dev/null & program=$!
(read -r _ <&3; kill -KILL 0) & reader=$!
wait $program; code=$?; kill $reader 2>/dev/null; exit $code`;

/** @throws Error with the last output of a program that ends, or shows no leader in time */
export async function startRealServer(program: string, readyWithinMs = READY_WITHIN_MS): Promise<OwnServer> {
  const folder = temporaryDirectory();
  const backups: ReturnType<typeof temporaryDirectory>[] = [];
  const start = (port: number) => startOnce([program, `${port}`, folder.path], port, readyWithinMs);
  try {
    const { port, result } = await onFreePort(start);
    let kill = result;
    const revive = async () => {
      kill = await start(port);
    };
    /** A folder is copied or replaced while nobody writes into it. */
    const stopped = async (change: () => void) => {
      await kill();
      change();
      await revive();
    };
    return {
      url: `esdb://${HOST}:${port}?tls=false`,
      port,
      kill: () => kill(),
      revive,
      backup: async () => {
        const kept = temporaryDirectory();
        backups.push(kept);
        await stopped(() => cpSync(folder.path, kept.path, { recursive: true }));
        return () => stopped(() => replaceContent(folder.path, kept.path));
      },
      empty: () => stopped(() => replaceContent(folder.path)),
      stop: async () => {
        await kill();
        for (const each of [folder, ...backups]) each.remove();
      },
    };
  } catch (error) {
    folder.remove();
    throw error;
  }
}

function replaceContent(folder: string, from?: string): void {
  for (const name of readdirSync(folder)) rmSync(join(folder, name), { recursive: true });
  if (from) cpSync(from, folder, { recursive: true });
}

/** Tries another port where somebody else took the one that was free. */
async function onFreePort<T>(start: (port: number) => Promise<T>): Promise<{ port: number; result: T }> {
  for (let tries = 1; ; tries += 1) {
    const port = await freePort();
    try {
      return { port, result: await start(port) };
    } catch (error) {
      if (tries === MOST_TRIES || (await isFree(port))) throw error;
    }
  }
}

/** @returns what kills it */
async function startOnce(
  command: readonly string[],
  port: number,
  readyWithinMs: number,
): Promise<() => Promise<void>> {
  // Detached: a group of its own, to be killed with all that a script started.
  const child = spawn('sh', ['-c', KEEPER, 'sh', ...command], { detached: true, stdio: 'pipe' });
  const output = lastOutput(child);
  const closed = once(child, 'close');
  const kill = async () => {
    killGroup(child);
    await closed;
    await eventually(() => isFree(port), { message: `port ${port} is still taken` });
  };
  try {
    const ready = () => hasEnded(child) || showsLeader(port);
    await eventually(ready, { timeout: readyWithinMs, message: 'its /gossip shows no leader' });
    if (hasEnded(child)) throw new Error(`it ended with ${child.exitCode ?? child.signalCode}`);
    return kill;
  } catch (error) {
    killGroup(child);
    await closed;
    throw new Error(`${command.join(' ')}: no EventStoreDB came up, ${(error as Error).message}\n${output()}`);
  }
}

function lastOutput({ stdout, stderr }: ChildProcess): () => string {
  let last = '';
  for (const stream of [stdout, stderr]) {
    stream?.setEncoding('utf8').on('data', (text: string) => {
      last = (last + text).slice(-KEPT_OUTPUT);
    });
  }
  return () => last;
}

/** Also where the program has ended: what it left behind is in the group. */
function killGroup({ pid = 0 }: ChildProcess): void {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

function hasEnded({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode !== null || signalCode !== null;
}

async function showsLeader(port: number): Promise<boolean> {
  try {
    const signal = AbortSignal.timeout(ANSWER_WITHIN_MS);
    const answer = await fetch(`http://${HOST}:${port}/gossip`, { headers: { accept: 'application/json' }, signal });
    const { members } = (await answer.json()) as { members: readonly { state: string }[] };
    return members.some(({ state }) => state === 'Leader');
  } catch {
    return false; // it starts, or stands still: eventually() knows for how long
  }
}

export async function isFree(port: number): Promise<boolean> {
  const server = createServer();
  try {
    server.listen(port, HOST);
    await once(server, 'listening');
  } catch {
    return false;
  }
  server.close();
  await once(server, 'close');
  return true;
}
