/** projections: manages the projections on an EventStoreDB server, where auditors query them. */
import type { Command } from 'commander';
import type { Backbone } from '../backbone.js';
import { foldingTrouble, RUN_ALL, statusText, type Trouble, troubleOf } from '../doctor/projection-troubles.js';
import { ProjectionMissing, type ProjectionServer, ProjectionsOff } from '../ports/projection-server.js';
import { PROJECTIONS } from '../read-model/projection-source.js';
import {
  deploy,
  type Examined,
  examine,
  rebuild,
  StandsStill,
  type Waiting,
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
const NOT_DEPLOYED = 'not all projections are deployed: run account-webhooks projections deploy';

interface Parts extends Pick<Backbone, 'store'> {
  readonly server: ProjectionServer;
  readonly answer: LastingAnswer;
  readonly warn: CommandIo['warn'];
  readonly json: boolean;
}

/** @returns what is wrong, in sentences: exit code 1 */
type Work = (parts: Parts, examined: readonly Examined[]) => Promise<readonly string[]>;

export function projectionsCommand(program: Command, io: CommandIo): void {
  const projections = program.command('projections').description('manage the projections on the EventStoreDB server');
  const add = (name: string, description: string, work: Work) =>
    projections
      .command(name)
      .description(description)
      .option(...JSON_OPTION)
      .action(({ json = false }: JsonOption) =>
        withBackbone(io.config(), async (backbone) => {
          const answer = new LastingAnswer(io);
          const parts = { ...backbone, server: serverOf(backbone), answer, warn: io.warn, json };
          const wrong = new Set(await begin(parts, work).catch(explained));
          answer.end(wrong.size > 0 ? new CommandFailed([...wrong].join('; ')) : null);
        }),
      );
  add('deploy', 'put the projections on the server; those with another source are folded again', deployAll);
  add('status', 'print the status of each projection; exit code 1 if one differs from what deploy leaves', status);
  add('rebuild', 'let the server fold all events again, and wait for the end', rebuildAll);
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
  const examined = await Promise.all(PROJECTIONS.map((name) => examine(parts.server, name)));
  for (const { projection, source } of examined) {
    if (source === 'unreadable')
      await parts.warn(`${projection}: the user of EVENT_STORE_URL may not read which source runs`);
  }
  const systemOnly = examined.find(({ condition }) => condition === 'system-only');
  return systemOnly ? [sentence(troubleOf(systemOnly))] : work(parts, examined);
}

function explained(error: unknown): never {
  if (error instanceof ProjectionMissing) throw new CommandFailed(NOT_DEPLOYED);
  if (error instanceof ProjectionsOff) throw new CommandFailed(sentence(foldingTrouble('off')));
  if (error instanceof StandsStill) throw new CommandFailed(`${error.message}: see the server's log, or ${RUN_ALL}`);
  throw error;
}

function sentence(trouble: Trouble | null): string {
  return trouble ? `${trouble.says}: ${trouble.todo}` : '';
}

async function deployAll(parts: Parts): Promise<readonly string[]> {
  for (const name of PROJECTIONS) {
    const deployed = await deploy(parts.server, name, waiting(parts));
    await parts.answer.print(parts.json ? JSON.stringify(deployed) : `${name}: ${deployed.outcome}`);
  }
  return [];
}

async function rebuildAll(parts: Parts): Promise<readonly string[]> {
  for (const name of PROJECTIONS) {
    const rebuilt = await rebuild(parts.server, name, waiting(parts));
    await parts.answer.print(parts.json ? JSON.stringify(rebuilt) : `${name}: ${rebuilt.outcome}`);
  }
  return [];
}

async function status({ answer, json }: Parts, examined: readonly Examined[]): Promise<readonly string[]> {
  for (const one of examined) await answer.print(statusLine(one, json));
  return troublesOf(examined);
}

function troublesOf(examined: readonly Examined[]): readonly string[] {
  if (examined.some(({ condition }) => condition === 'missing')) return [NOT_DEPLOYED];
  return examined.map(troubleOf).flatMap((trouble) => (trouble ? [sentence(trouble)] : []));
}

function statusLine(examined: Examined, json: boolean): string {
  const { projection, source, status: found } = examined;
  const { status: says = 'not deployed', reason = '', progress = null } = found ?? {};
  if (!json) return `${projection}: ${found ? statusText(found) : says}  ${reason}`.trimEnd();
  const trouble = troubleOf(examined);
  return JSON.stringify({ projection, status: says, reason, progress, source, trouble: trouble && sentence(trouble) });
}

async function verifyAll(parts: Parts, examined: readonly Examined[]): Promise<readonly string[]> {
  const troubles = troublesOf(examined);
  if (troubles[0] === NOT_DEPLOYED) return troubles;
  const sound = examined.filter((one) => troubleOf(one) === null).map(({ projection }) => projection);
  const found = await verify(parts, sound);
  const lines = parts.json ? found.map((one) => JSON.stringify(one)) : found.flatMap(discrepancyLines);
  for (const line of lines) await parts.answer.print(line);
  for (const name of parts.json ? [] : sound) await parts.answer.print(`${name}: compared`);
  const unreadable = found.filter((one) => 'unreadable' in one);
  const differing = found.length - unreadable.length;
  const sentences = [...troubles];
  if (differing > 0)
    sentences.push(
      `${differing} states differ: run this again if events were written meanwhile, else account-webhooks projections rebuild`,
    );
  if (unreadable.length > 0)
    sentences.push(
      `${new Set(unreadable.map(({ stream }) => stream)).size} accounts cannot be read: run account-webhooks doctor`,
    );
  return sentences;
}

function discrepancyLines({ projection, stream, ...found }: Discrepancy): string[] {
  if ('unreadable' in found) return [`${projection} ${stream}: not compared: ${found.unreadable}`];
  const { local, server } = found;
  return [`${projection} ${stream}`, `  here:   ${JSON.stringify(local)}`, `  server: ${JSON.stringify(server)}`];
}

/** Reports each tenth and other changes on stderr: a long history takes minutes. */
function waiting({ warn }: Parts): Waiting {
  let last = '';
  const onStep: Waiting['onStep'] = (name, { status: says, progress }) => {
    const tenth = progress === null ? null : 10 * Math.floor(progress / 10);
    const step = `${name}: ${statusText({ status: says, progress: tenth })}`;
    if (step !== last) void warn(step);
    last = step;
  };
  return { lookEveryMs: LOOK_EVERY_MS, patience: PATIENCE, onStep };
}
