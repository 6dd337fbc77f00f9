/** accounts and publishers: registers them and issues their secrets, directly in the event store. */
import { randomBytes, randomUUID } from 'node:crypto';
import { type Command, InvalidArgumentError } from 'commander';
import { PUBLISHER_NAME } from '../accounts/client-credentials.js';
import { createRegistration, type Registration } from '../accounts/registration.js';
import type { Backbone } from '../composition/backbone.js';
import type { EventStore } from '../ports/event-store.js';
import { type Folded, foldNext } from '../read-model/fold.js';
import { loadProjection } from '../read-model/projection-source.js';
import { storedBatches } from '../read-model/stored-events.js';
import type { CommandContext } from '../webhooks/envelope.js';
import { type ClientOwner, PUBLISHER_STREAM_PREFIX } from '../webhooks/events.js';
import type { AccountCredentials } from '../webhooks/state.js';
import {
  accountIdArgument,
  CommandFailed,
  type CommandIo,
  JSON_OPTION,
  type JsonOption,
  OutputFailed,
  operatorContext,
  withBackbone,
} from './command-io.js';

const NAME = '1 to 64 of A-Z a-z 0-9 . _ -';
const ONCE = 'The secrets are shown only once: they can not be read again.';
const BOTH_SIGN = 'Until previousEndsAt, deliveries are also signed with the old secret.';

export function accountsCommand(program: Command, io: CommandIo): void {
  const accounts = program.command('accounts').description('register accounts and manage their credentials');

  accounts
    .command('register')
    .description('register an account; prints its client id, client secret and signing secret')
    .argument('<id>', 'a positive whole number', accountIdArgument)
    .option(...JSON_OPTION)
    .action((id: number, { json }: JsonOption) => answer(io, json, (to, by) => to.register(id, by), lostAccount(id)));
  accounts
    .command('issue-credential')
    .description('issue another client id and secret')
    .argument('<id>', 'the account', accountIdArgument)
    .option(...JSON_OPTION)
    .action((id: number, { json }: JsonOption) =>
      answer(io, json, (to, by) => to.issueCredential(id, by), lostCredential('accounts', id)),
    );
  revokeCredentialCommand(accounts, io);
  accounts
    .command('rotate-secret')
    .description('issue a new signing secret; the old one also signs for 24 hours, and the output says until when')
    .argument('<id>', 'the account', accountIdArgument)
    .option(...JSON_OPTION)
    .action((id: number, { json }: JsonOption) =>
      answer(io, json, (to, by) => to.rotateSecret(id, by), lostSecret(id)),
    );
}

export function publishersCommand(program: Command, io: CommandIo): void {
  const publishers = program
    .command('publishers')
    .description('register payment systems that publish by HTTP, and manage their credentials');

  publishers
    .command('register')
    .description('register a publisher; prints its client id and client secret')
    .argument('<name>', NAME, publisherName)
    .option(...JSON_OPTION)
    .action((name: string, { json }: JsonOption) =>
      answer(io, json, (to, by) => to.registerPublisher(name, by), lostCredential('publishers', name)),
    );
  publishers
    .command('list')
    .description('list the publishers with their client ids')
    .option(...JSON_OPTION)
    .action((options: JsonOption) => list(options, io));
  publishers
    .command('issue-credential')
    .description('issue another client id and secret')
    .argument('<name>', 'the publisher', publisherName)
    .option(...JSON_OPTION)
    .action((name: string, { json }: JsonOption) =>
      answer(io, json, (to, by) => to.issueCredential(name, by), lostCredential('publishers', name)),
    );
  revokeCredentialCommand(publishers, io);
}

/** The client id names its owner, an account or a publisher. */
function revokeCredentialCommand(owners: Command, io: CommandIo): void {
  owners
    .command('revoke-credential')
    .description('revoke a client id and its tokens')
    .argument('<clientId>')
    .option(...JSON_OPTION)
    .action((clientId: string, { json }: JsonOption) =>
      answer(io, json, (to, by) => to.revokeCredential(clientId, by)),
    );
}

export function registrationIn({ store, sealing }: Pick<Backbone, 'store' | 'sealing'>, now = () => new Date()) {
  return createRegistration({ store, sealing, randomBytes, newEventId: randomUUID, now });
}

/** Makes the change and prints what it returns. @param lost how to get other secrets where these could not be shown */
async function answer<R extends object>(
  io: CommandIo,
  json: boolean | undefined,
  change: (registration: Registration, by: CommandContext) => Promise<R>,
  lost?: (result: R) => string,
): Promise<void> {
  const result = await withBackbone(io.config(), (backbone) => change(registrationIn(backbone), operatorContext()));
  await printed(io, json, result).catch((error: unknown) => {
    if (!lost || !(error instanceof OutputFailed)) throw error;
    throw new CommandFailed(`stdout can't be written (${error.code}): ${lost(result)}`);
  });
}

async function printed(io: CommandIo, json: boolean | undefined, result: object): Promise<void> {
  if (json) return io.print(JSON.stringify(result));
  for (const [name, value] of Object.entries(result)) await io.print(`${name.padEnd(14)} ${value}`);
  if ('clientSecret' in result || 'signingSecret' in result) await io.print(ONCE);
  if ('previousEndsAt' in result) await io.print(BOTH_SIGN);
}

const lostAccount = (id: number) => () =>
  `account ${id} is registered, but its secrets were not shown: get others by accounts issue-credential ${id} and accounts rotate-secret ${id}`;

const lostSecret = (id: number) => () =>
  `account ${id} has a new signing secret, which was not shown: get another by accounts rotate-secret ${id}`;

const lostCredential =
  (group: 'accounts' | 'publishers', owner: ClientOwner) =>
  ({ clientId }: { readonly clientId: string }) =>
    `the secret of ${clientId} was not shown: run ${group} revoke-credential ${clientId}, then ${group} issue-credential ${owner}`;

function publisherName(value: string): string {
  if (PUBLISHER_NAME.test(value)) return value;
  throw new InvalidArgumentError(`A name is ${NAME}`);
}

function list({ json }: JsonOption, io: CommandIo): Promise<void> {
  return withBackbone(io.config(), async ({ store }) => {
    for (const [name, clientIds] of await publishersIn(store)) {
      await io.print(
        json ? JSON.stringify({ name, clientIds }) : `${name.padEnd(24)} ${clientIds.join(' ')}`.trimEnd(),
      );
    }
  });
}

/** By name, in the order of registration: the client ids that are not revoked. */
async function publishersIn(store: EventStore): Promise<ReadonlyMap<string, readonly string[]>> {
  const projection = loadProjection('account-credentials');
  const states = new Map<string, Folded<AccountCredentials>>();
  for await (const { events } of storedBatches(store, null, PUBLISHER_STREAM_PREFIX)) {
    for (const event of events) {
      const name = event.stream.slice(PUBLISHER_STREAM_PREFIX.length);
      const next = foldNext(projection, states.get(name), event);
      if (!('why' in next)) states.set(name, next);
    }
  }
  const idsOf = ({ state }: Folded<AccountCredentials>) => state.credentials.map(({ clientId }) => clientId);
  return new Map([...states].map(([name, folded]) => [name, idsOf(folded)]));
}
