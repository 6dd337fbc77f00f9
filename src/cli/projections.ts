/** projections: manages the projections on an EventStoreDB server, where auditors query them. */
import type { Command } from 'commander';
import type { Backbone } from '../composition/backbone.js';
import { foldingTrouble, statusText, type Trouble, troubleOf } from '../doctor/projection-checks.js';
import type { ProjectionServer } from '../ports/projection-server.js';
import { PROJECTIONS, type ProjectionName } from '../read-model/projection-source.js';
import {
  type Discrepancy,
  deploy,
  type Examined,
  examine,
  rebuild,
  verify,
  type Watching,
} from '../read-model/server-projections.js';
import { command } from './command.js';
import { CommandFailed, type CommandIo } from './command-io.js';

/** The server updates its numbers about once a second; half a minute without a change is a standstill. */
const LOOK_EVERY_MS = 200;
const PATIENCE = 150;
const AGAIN = 'run account-webhooks projections verify again';

interface Parts extends Pick<Backbone, 'store'> {
  readonly server: ProjectionServer;
  readonly print: CommandIo['print'];
  readonly warn: CommandIo['warn'];
  readonly json: boolean;
}

/** @returns what is wrong, in sentences: exit code 1 */
type Work = (parts: Parts, all: readonly Examined[]) => Promise<readonly string[]>;

export function projectionsCommand(program: Command, io: CommandIo): void {
  const projections = program.command('projections').description('manage the projections on the EventStoreDB server');
  const add = (name: string, says: string, work: Work) =>
    command(projections, io, {
      name,
      says,
      async run(running) {
        const backbone = await running.open();
        const { store } = backbone;
        const print = (line: string) => running.say(line);
        const parts = { store, server: serverOf(backbone), print, warn: io.warn, json: running.json };
        running.wrong(...(await begin(parts, work)));
      },
    });
  add('deploy', 'create, update or repair the projections; rebuild those with a different source', eachBy(deploy));
  add('status', 'print the status of each projection; exit code 1 if one differs from what deploy leaves', status);
  add('rebuild', 'let the server fold all events again, and wait for the end', eachBy(rebuild));
  add('verify', "compare the server's sources and states with those here; exit code 1 if one differs", verifyAll);
}

function serverOf({ projections }: Backbone): ProjectionServer {
  if (projections) return projections;
  throw new CommandFailed(
    'EVENT_STORE_URL does not name an EventStoreDB: the embedded store has no server-side projections',
  );
}

/** If the server folds nothing, no command can report anything else. */
async function begin(parts: Parts, work: Work): Promise<readonly string[]> {
  const trouble = foldingTrouble(await parts.server.folding());
  if (trouble) return [sentence(trouble)];
  const all = await Promise.all(PROJECTIONS.map((name) => examine(parts.server, name)));
  for (const { projection, source } of all) {
    if (source !== 'unreadable') continue;
    await parts.warn(
      `${projection}: the user of EVENT_STORE_URL may not read which source runs, so deploy folds all events again`,
    );
  }
  return work(parts, all);
}

function sentence(trouble: Trouble | null): string {
  return trouble ? `${trouble.says}: ${trouble.todo}` : '';
}

function troublesOf(all: readonly Examined[]): readonly string[] {
  return all.map((one) => sentence(troubleOf(one))).filter(Boolean);
}

const eachBy =
  (fold: typeof deploy): Work =>
  async (parts) => {
    for (const name of PROJECTIONS) {
      const deployed = await fold(parts.server, name, watching(parts));
      const { outcome, cause } = deployed;
      const line = `${name}: ${outcome}${cause ? `, because ${cause}` : ''}`;
      await parts.print(parts.json ? JSON.stringify(deployed) : line);
    }
    return [];
  };

const status: Work = async (parts, all) => {
  for (const one of all) await parts.print(statusLine(parts, one));
  return troublesOf(all);
};

const verifyAll: Work = async (parts, all) => {
  const sound = all.filter((one) => troubleOf(one) === null).map(({ projection }) => projection);
  return [...troublesOf(all), ...(await compare(parts, sound))];
};

async function compare({ store, server, json, print }: Parts, names: readonly ProjectionName[]): Promise<string[]> {
  const unreadable = new Set<string>();
  const changed = new Set<string>();
  let differences = 0;
  for await (const found of verify(store, server, names)) {
    if ('unreadable' in found) unreadable.add(found.stream);
    else if ('changed' in found) changed.add(found.stream);
    else differences += 1;
    for (const line of json ? [JSON.stringify(found)] : discrepancyLines(found)) await print(line);
  }
  for (const name of json ? [] : names) await print(`${name}: compared`);
  const sentences = [];
  if (changed.size > 0) sentences.push(`${changed.size} accounts changed meanwhile: ${AGAIN}`);
  if (differences > 0) {
    const late = `events of the last seconds may not be folded at the server yet: ${AGAIN}`;
    sentences.push(
      `${differences} states differ: ${late}; if they differ again, run account-webhooks projections rebuild`,
    );
  }
  if (unreadable.size > 0) sentences.push(`${unreadable.size} accounts cannot be read: run account-webhooks doctor`);
  return sentences;
}

function discrepancyLines({ projection, stream, ...found }: Discrepancy): string[] {
  if ('unreadable' in found) return [`${projection} ${stream}: not compared: ${found.unreadable}`];
  if ('changed' in found) return [`${projection} ${stream}: not compared: it changed meanwhile`];
  const { local, server } = found;
  return [`${projection} ${stream}`, `  here:   ${JSON.stringify(local)}`, `  server: ${JSON.stringify(server)}`];
}

function statusLine({ json }: Parts, examined: Examined): string {
  const { projection, source, status } = examined;
  const { status: says = 'not deployed', reason = '', progress = null } = status ?? {};
  if (!json) return `${projection}: ${status ? statusText(status) : says}  ${reason}`.trimEnd();
  const trouble = troubleOf(examined);
  return JSON.stringify({ projection, status: says, reason, progress, source, trouble: trouble && sentence(trouble) });
}

/** Reports each tenth and other changes on stderr: a long history takes minutes. */
function watching({ warn }: Parts): Watching {
  let last = '';
  const onStep: Watching['onStep'] = (name, { status, progress }) => {
    const tenth = progress === null ? null : 10 * Math.floor(progress / 10);
    const step = `${name}: ${statusText({ status, progress: tenth })}`;
    if (step !== last) void warn(step);
    last = step;
  };
  return { lookEveryMs: LOOK_EVERY_MS, patience: PATIENCE, onStep };
}
