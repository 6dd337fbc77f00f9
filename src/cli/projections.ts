/** projections: the folds on an EventStoreDB server, where auditors query them. */
import type { Command } from 'commander';
import type { Backbone } from '../backbone.js';
import { ProjectionMissing, type ProjectionServer } from '../ports/projection-server.js';
import { PROJECTIONS } from '../read-model/projection-source.js';
import { deploy, verify } from '../read-model/server-projections.js';
import { CommandFailed, type CommandIo, JSON_OPTION, type JsonOption, withBackbone } from './command-io.js';

export function projectionsCommand(program: Command, io: CommandIo): void {
  const projections = program.command('projections').description('manage the projections on the EventStoreDB server');
  const add = (name: string, description: string, work: (parts: Parts) => Promise<void>) =>
    projections
      .command(name)
      .description(description)
      .option(...JSON_OPTION)
      .action(({ json = false }: JsonOption) =>
        withBackbone(io.config(), (backbone) =>
          work({ ...backbone, server: serverOf(backbone), io, json }).catch(explained),
        ),
      );
  add('deploy', 'create or update the projections; rebuild those whose source changed', deployAll);
  add('status', 'print the status of each projection', status);
  add('rebuild', 'let the server fold all events again', rebuild);
  add('verify', "compare the server's states with those folded here; exit code 1 if one differs", verifyAll);
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

function explained(error: unknown): never {
  throw error instanceof ProjectionMissing ? notAllDeployed() : error;
}

function notAllDeployed(): CommandFailed {
  return new CommandFailed('not all projections are deployed: run account-webhooks projections deploy');
}

async function deployAll({ store, server, io, json }: Parts): Promise<void> {
  for (const name of PROJECTIONS) {
    const deployed = await deploy(store, server, name);
    await io.print(json ? JSON.stringify(deployed) : `${name}: ${deployed.outcome}`);
  }
}

async function status({ server, io, json }: Parts): Promise<void> {
  let missing = 0;
  for (const name of PROJECTIONS) {
    const found = await server.status(name);
    if (!found) missing += 1;
    const { status: says = 'not deployed', reason = '', progress = 0 } = found ?? {};
    const line = `${name}: ${says}  ${progress} %  ${reason}`.trimEnd();
    await io.print(json ? JSON.stringify({ projection: name, status: says, reason, progress }) : line);
  }
  if (missing > 0) throw notAllDeployed();
}

async function rebuild({ server, io, json }: Parts): Promise<void> {
  for (const name of PROJECTIONS) {
    await server.reset(name);
    await io.print(json ? JSON.stringify({ projection: name, outcome: 'rebuilding' }) : `${name}: rebuilding`);
  }
}

async function verifyAll({ store, server, io, json }: Parts): Promise<void> {
  let differences = 0;
  for (const name of PROJECTIONS) {
    for await (const difference of verify(store, server, name)) {
      differences += 1;
      const { stream, local, server: there } = difference;
      const lines = [`${name} ${stream}`, `  here:   ${JSON.stringify(local)}`, `  server: ${JSON.stringify(there)}`];
      for (const line of json ? [JSON.stringify(difference)] : lines) await io.print(line);
    }
    if (!json) await io.print(`${name}: compared`);
  }
  if (differences > 0)
    throw new CommandFailed(`${differences} states differ: run account-webhooks projections rebuild`);
}
