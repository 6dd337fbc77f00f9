/**
 * A real EventStoreDB that a test has for itself, started by a program: `PROGRAM PORT DATA_FOLDER` runs one node on
 * 127.0.0.1, without TLS, with all projections. It is ready when its /gossip shows a leader and its standard projections run; it ends by
 * SIGKILL.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { connect, disconnect } from '../../../src/adapters/eventstoredb/client.js';
import { eventually } from '../../support/clocks/eventually.js';
import { temporaryDirectory } from '../../support/scenes/temporary-directory.js';
import { freePort } from '../free-port.js';
import type { OwnServer } from './own-server.js';

const HOST = '127.0.0.1';
const READY = { timeout: 60_000, message: 'its /gossip shows no leader, or its standard projections do not run' };
const ANSWER_WITHIN_MS = 2_000;
const urlOf = (port: number) => `esdb://${HOST}:${port}?tls=false`;

export async function startRealServer(program: string): Promise<OwnServer> {
  const port = await freePort();
  const folder = temporaryDirectory();
  const backups: ReturnType<typeof temporaryDirectory>[] = [];
  const start = () => startOnce(program, port, folder.path);
  let kill = await start();
  const revive = async () => {
    kill = await start();
  };
  /** A folder is copied or replaced while nobody writes into it. */
  const stopped = async (change: () => void) => {
    await kill();
    change();
    await revive();
  };
  return {
    url: urlOf(port),
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
}

function replaceContent(folder: string, from?: string): void {
  for (const name of readdirSync(folder)) rmSync(join(folder, name), { recursive: true });
  if (from) cpSync(from, folder, { recursive: true });
}

/** @returns what kills it. @throws Error where the program ends, or shows no leader in time */
async function startOnce(program: string, port: number, folder: string): Promise<() => Promise<void>> {
  // Detached: a group of its own, to be killed with all that a script started.
  const child = spawn(program, [`${port}`, folder], { detached: true, stdio: ['ignore', 'ignore', 'inherit'] });
  const closed = once(child, 'close');
  const kill = async () => {
    killGroup(child);
    await closed;
  };
  try {
    await eventually(() => child.exitCode !== null || isReady(port), READY);
    if (child.exitCode !== null) throw new Error(`${program} ended with ${child.exitCode}`);
    return kill;
  } catch (error) {
    await kill();
    throw error;
  }
}

/** Also where the program has ended: what it left behind is in the group. */
function killGroup({ pid = 0 }: ChildProcess): void {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

const isReady = async (port: number) => (await showsLeader(port)) && (await runsStandardProjections(port));

/** They start after the election: what is appended before is linked later. */
async function runsStandardProjections(port: number): Promise<boolean> {
  const client = connect(urlOf(port));
  try {
    const projections = await client.listProjections({ deadline: ANSWER_WITHIN_MS });
    const standard = projections.filter(({ name }) => name.startsWith('$'));
    return standard.length > 0 && standard.every(({ status }) => status === 'Running');
  } catch {
    return false;
  } finally {
    await disconnect(client);
  }
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
