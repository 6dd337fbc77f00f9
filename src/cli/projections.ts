/** projections: manages the projections on an EventStoreDB server, where auditors query them. */
import type { Command } from 'commander';
import type { Backbone } from '../backbone.js';
import { foldingTrouble, type Trouble, troubleOf } from '../doctor/projection-troubles.js';
import { ProjectionMissing, type ProjectionServer, ProjectionsOff } from '../ports/projection-server.js';
import { PROJECTIONS, type ProjectionName } from '../read-model/projection-source.js';
import { StandsStill, type Watching } from '../read-model/server-catch-up.js';
import { type Examined, examine } from '../read-model/server-condition.js';
import { type Deployed, deploy, rebuild } from '../read-model/server-projections.js';
import { type Difference, verify } from '../read-model/server-verification.js';
import { CommandFailed, type CommandIo, JSON_OPTION, type JsonOption, withBackbone } from './command-io.js';

/** The server updates its numbers about once a second; half a minute without a change is a standstill. */
const LOOK_EVERY_MS = 200;
const PATIENCE = 150;
const NOT_DEPLOYED = 'not all projections are deployed: run account-webhooks projections deploy';

export function projectionsCommand(program: Command, io: CommandIo): void {
  const projections = program.command('projections').description('manage the projections on the EventStoreDB server');
  const add = (name: string, description: string, work: (parts: Parts) => Promise<void>) =>
    projections
      .command(name)
      .description(description)
      .option(...JSON_OPTION)
      .action(({ json = false }: JsonOption) =>
        withBackbone(io.config(), (backbone) =>
          begin({ ...backbone, server: serverOf(backbone), io, json }, work).catch(explained),
        ),
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
  if (error instanceof StandsStill)
    throw new CommandFailed(`${error.message}: see account-webhooks projections status`);
  throw error;
}

function sentence(trouble: Trouble | null): string {
  return trouble ? `${trouble.says}: ${trouble.todo}` : '';
}

async function deployAll(parts: Parts): Promise<void> {
  await mustRunOurs(await examineAll(parts));
  for (const name of PROJECTIONS) await say(parts, await deploy(parts, name, watching(parts)));
}

async function rebuildAll(parts: Parts): Promise<void> {
  const all = await examineAll(parts);
  if (all.some(({ condition }) => condition === 'missing')) throw new CommandFailed(NOT_DEPLOYED);
  await mustRunOurs(all);
  for (const name of PROJECTIONS) await say(parts, await rebuild(parts, name, watching(parts)));
}

async function status(parts: Parts): Promise<void> {
  const all = await examineAll(parts);
  for (const examined of all) await parts.io.print(statusLine(parts, examined));
  const troubles = all.map(troubleOf).filter((trouble) => trouble !== null);
  if (all.some(({ condition }) => condition === 'missing')) throw new CommandFailed(NOT_DEPLOYED);
  failWith(troubles.map(sentence));
}

async function verifyAll(parts: Parts): Promise<void> {
  const all = await examineAll(parts);
  if (all.some(({ condition }) => condition === 'missing')) throw new CommandFailed(NOT_DEPLOYED);
  const troubles = all
    .map(troubleOf)
    .filter((trouble) => trouble !== null)
    .map(sentence);
  const sound = all.filter((examined) => troubleOf(examined) === null).map(({ projection }) => projection);
  const differences = await compare(parts, sound);
  if (differences > 0) troubles.push(`${differences} states differ: run account-webhooks projections rebuild`);
  failWith(troubles);
}

/** @returns the number of differing states */
async function compare({ store, server, io, json }: Parts, names: readonly ProjectionName[]): Promise<number> {
  let differences = 0;
  for await (const difference of verify({ store, server }, names)) {
    differences += 1;
    for (const line of json ? [JSON.stringify(difference)] : differenceLines(difference)) await io.print(line);
  }
  for (const name of json ? [] : names) await io.print(`${name}: compared`);
  return differences;
}

function differenceLines({ projection, stream, local, server }: Difference): string[] {
  return [`${projection} ${stream}`, `  here:   ${JSON.stringify(local)}`, `  server: ${JSON.stringify(server)}`];
}

/** Reports on stderr each source that could not be compared. */
async function examineAll(parts: Parts): Promise<Examined[]> {
  const all: Examined[] = [];
  for (const name of PROJECTIONS) all.push(await examine(parts, name));
  for (const { projection, source } of all) {
    if (source !== 'unreadable') continue;
    await parts.io.warn(
      `${projection}: the user of EVENT_STORE_URL may not read which source runs; the last deployed one is assumed`,
    );
  }
  return all;
}

/** Each sentence once. */
function failWith(sentences: readonly string[]): void {
  if (sentences.length > 0) throw new CommandFailed([...new Set(sentences)].join('; '));
}

async function mustRunOurs(all: readonly Examined[]): Promise<void> {
  failWith(all.filter(({ condition }) => condition === 'system-only').map((examined) => sentence(troubleOf(examined))));
}

async function say({ io, json }: Parts, deployed: Deployed): Promise<void> {
  const { projection, outcome, cause } = deployed;
  await io.print(json ? JSON.stringify(deployed) : `${projection}: ${outcome}${cause ? `, because ${cause}` : ''}`);
}

function statusLine({ json }: Parts, examined: Examined): string {
  const { projection, source } = examined;
  const { status: says = 'not deployed', reason = '', progress = 0 } = examined.status ?? {};
  if (!json) return `${projection}: ${says}  ${progress} %  ${reason}`.trimEnd();
  const trouble = troubleOf(examined);
  return JSON.stringify({ projection, status: says, reason, progress, source, trouble: trouble && sentence(trouble) });
}

/** Reports each tenth and other changes on stderr: a long history takes minutes. */
function watching({ io }: Parts): Watching {
  let last = '';
  const onStep: Watching['onStep'] = (name, { status: says, progress }) => {
    const step = `${name}: ${says}, ${10 * Math.floor(Math.max(0, progress) / 10)} %`;
    if (step !== last) void io.warn(step);
    last = step;
  };
  return { lookEveryMs: LOOK_EVERY_MS, patience: PATIENCE, onStep };
}
