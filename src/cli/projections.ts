/** projections: manages the projections on an EventStoreDB server, where auditors query them. */
import type { Command } from 'commander';
import type { Backbone } from '../composition/backbone.js';
import { foldingTrouble, RUN_ALL, statusText, type Trouble, troubleOf } from '../doctor/projection-checks.js';
import { ProjectionMissing, type ProjectionServer, ProjectionsOff } from '../ports/projection-server.js';
import { PROJECTIONS, type ProjectionName } from '../read-model/projection-source.js';
import {
  type Deployed,
  deploy,
  type Examined,
  examine,
  isStopped,
  rebuild,
  StandsStill,
  type Watching,
} from '../read-model/server-projections.js';
import { type Discrepancy, verify } from '../read-model/server-verification.js';
import {
  CommandFailed,
  type CommandIo,
  JSON_OPTION,
  type JsonOption,
  LastingAnswer,
  withBackbone,
} from './command-io.js';

/** The server updates its numbers about once a second; half a minute without a change is a standstill. */
const LOOK_EVERY_MS = 200;
const PATIENCE = 150;
const AGAIN = 'run account-webhooks projections verify again';
const NOT_DEPLOYED = 'not all projections are deployed: run account-webhooks projections deploy';

export function projectionsCommand(program: Command, io: CommandIo): void {
  const projections = program.command('projections').description('manage the projections on the EventStoreDB server');
  const add = (name: string, description: string, work: (parts: Parts) => Promise<void>) =>
    projections
      .command(name)
      .description(description)
      .option(...JSON_OPTION)
      .action(({ json = false }: JsonOption) =>
        withBackbone(io.config(), async (backbone) => {
          const answer = new LastingAnswer(io);
          const lasting = { ...io, print: (line: string) => answer.print(line) };
          await begin({ ...backbone, server: serverOf(backbone), io: lasting, json }, work).catch(explained);
          answer.end();
        }),
      );
  add('deploy', 'create, update or repair the projections; rebuild those with a different source', deployAll);
  add('status', 'print the status of each projection; exit code 1 if one differs from what deploy leaves', status);
  add('rebuild', 'let the server fold all events again, and wait for the end', rebuildAll);
  add('verify', "compare the server's sources and states with those here; exit code 1 if one differs", verifyAll);
}

interface Parts extends Backbone {
  readonly server: ProjectionServer;
  readonly io: CommandIo;
  readonly json: boolean;
}

function serverOf({ projections }: Backbone): ProjectionServer {
  if (projections) return projections;
  throw new CommandFailed(
    'EVENT_STORE_URL does not name an EventStoreDB: the embedded store has no server-side projections',
  );
}

/** If the server folds nothing, no command can report anything else. */
async function begin(parts: Parts, work: (parts: Parts) => Promise<void>): Promise<void> {
  const trouble = foldingTrouble(await parts.server.folding());
  if (trouble) throw new CommandFailed(sentence(trouble));
  await work(parts);
}

function explained(error: unknown): never {
  if (error instanceof ProjectionMissing) throw new CommandFailed(NOT_DEPLOYED);
  if (error instanceof ProjectionsOff) throw new CommandFailed(sentence(foldingTrouble('off')));
  if (error instanceof StandsStill) throw new CommandFailed(`${error.message}: ${remedyOf(error)}`);
  throw error;
}

/** Not `projections status`, which may name `deploy`: this is the command that failed. */
function remedyOf({ status }: StandsStill): string {
  return isStopped(status.status)
    ? `somebody stopped it, or the server runs only its system projections (${RUN_ALL})`
    : "see the server's log, and run this again";
}

function sentence(trouble: Trouble | null): string {
  return trouble ? `${trouble.says}: ${trouble.todo}` : '';
}

async function deployAll(parts: Parts): Promise<void> {
  mustRunOurs(await examineAll(parts));
  for (const name of PROJECTIONS) await say(parts, await deploy(parts.server, name, watching(parts)));
}

async function rebuildAll(parts: Parts): Promise<void> {
  mustBeDeployed(await examineAll(parts));
  for (const name of PROJECTIONS) await say(parts, await rebuild(parts.server, name, watching(parts)));
}

async function status(parts: Parts): Promise<void> {
  const all = await examineAll(parts);
  for (const examined of all) await parts.io.print(statusLine(parts, examined));
  const troubles = all.map(troubleOf).filter((trouble) => trouble !== null);
  mustBeDeployed(all);
  failWith(troubles.map(sentence));
}

async function verifyAll(parts: Parts): Promise<void> {
  const all = await examineAll(parts);
  mustBeDeployed(all);
  const troubles = all
    .map(troubleOf)
    .filter((trouble) => trouble !== null)
    .map(sentence);
  const sound = all.filter((examined) => troubleOf(examined) === null).map(({ projection }) => projection);
  const answer = new LastingAnswer(parts.io);
  answer.end(failureOf([...troubles, ...(await compare(parts, sound, answer))]));
}

/** @returns what is wrong, in sentences */
async function compare(
  { store, server, json }: Parts,
  names: readonly ProjectionName[],
  answer: LastingAnswer,
): Promise<string[]> {
  const unreadable = new Set<string>();
  const changed = new Set<string>();
  let differences = 0;
  for await (const found of verify({ store, server }, names)) {
    if ('unreadable' in found) unreadable.add(found.stream);
    else if ('changed' in found) changed.add(found.stream);
    else differences += 1;
    for (const line of json ? [JSON.stringify(found)] : discrepancyLines(found)) await answer.print(line);
  }
  for (const name of json ? [] : names) await answer.print(`${name}: compared`);
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

/** Reports on stderr each source that could not be compared. */
async function examineAll(parts: Parts): Promise<Examined[]> {
  const all: Examined[] = [];
  for (const name of PROJECTIONS) all.push(await examine(parts.server, name));
  for (const { projection, source } of all) {
    if (source !== 'unreadable') continue;
    await parts.io.warn(
      `${projection}: the user of EVENT_STORE_URL may not read which source runs, so deploy folds all events again`,
    );
  }
  return all;
}

function failWith(sentences: readonly string[]): void {
  const failure = failureOf(sentences);
  if (failure) throw failure;
}

/** Each sentence once. */
function failureOf(sentences: readonly string[]): CommandFailed | null {
  return sentences.length > 0 ? new CommandFailed([...new Set(sentences)].join('; ')) : null;
}

/** On a server that runs none of ours, `deploy` helps nobody: it stopped at the first one. */
function mustRunOurs(all: readonly Examined[]): void {
  failWith(all.filter(({ condition }) => condition === 'system-only').map((examined) => sentence(troubleOf(examined))));
}

function mustBeDeployed(all: readonly Examined[]): void {
  mustRunOurs(all);
  if (all.some(({ condition }) => condition === 'missing')) throw new CommandFailed(NOT_DEPLOYED);
}

async function say({ io, json }: Parts, deployed: Deployed): Promise<void> {
  const { projection, outcome, cause } = deployed;
  await io.print(json ? JSON.stringify(deployed) : `${projection}: ${outcome}${cause ? `, because ${cause}` : ''}`);
}

function statusLine({ json }: Parts, examined: Examined): string {
  const { projection, source, status } = examined;
  const { status: says = 'not deployed', reason = '', progress = null } = status ?? {};
  if (!json) return `${projection}: ${status ? statusText(status) : says}  ${reason}`.trimEnd();
  const trouble = troubleOf(examined);
  return JSON.stringify({ projection, status: says, reason, progress, source, trouble: trouble && sentence(trouble) });
}

/** Reports each tenth and other changes on stderr: a long history takes minutes. */
function watching({ io }: Parts): Watching {
  let last = '';
  const onStep: Watching['onStep'] = (name, { status, progress }) => {
    const tenth = progress === null ? null : 10 * Math.floor(progress / 10);
    const step = `${name}: ${statusText({ status, progress: tenth })}`;
    if (step !== last) void io.warn(step);
    last = step;
  };
  return { lookEveryMs: LOOK_EVERY_MS, patience: PATIENCE, onStep };
}
