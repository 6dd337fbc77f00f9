/** accounts and publishers: registers them and issues their secrets, directly in the event store. */
import { randomBytes, randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { type Command, InvalidArgumentError } from 'commander';
import { PUBLISHER_NAME } from '../accounts/client-credentials.js';
import { createRegistration, type Registration } from '../accounts/registration.js';
import { type Backbone, checkKeyOfCommand } from '../composition/backbone.js';
import type { EventStore } from '../ports/event-store.js';
import type { ProjectionServer } from '../ports/projection-server.js';
import { type Folded, foldNext } from '../read-model/fold.js';
import { loadProjection } from '../read-model/projection-source.js';
import { storedBatches } from '../read-model/stored-events.js';
import type { CommandContext } from '../webhooks/envelope.js';
import { type ClientOwner, PUBLISHER_STREAM_PREFIX, streamOf } from '../webhooks/events.js';
import type { AccountCredentials } from '../webhooks/state.js';
import { command } from './command.js';
import { accountIdArgument, type CommandIo, operatorContext } from './command-io.js';

const NAME = '1 to 64 of A-Z a-z 0-9 . _ -';
const ONCE =
  'The secrets are shown only once: issue-credential gives another client secret, and rotate-secret another signing secret.';
/** A revocation must not wait for a server whose projections hang. */
const SERVER_WITHIN_MS = 500;
const BOTH_SIGN = 'Until previousEndsAt, deliveries are also signed with the old secret.';

export function accountsCommand(program: Command, io: CommandIo): void {
  const accounts = program.command('accounts').description('register accounts and manage their credentials');
  const id = ['<id>', 'a positive whole number', accountIdArgument] as const;
  changeCommand<number>(accounts, io, {
    name: 'register',
    arg: id,
    says: 'register an account; prints its client id, client secret and signing secret',
    seals: true,
    change: (to, given, by) => to.register(given, by),
  });
  credentialCommands(accounts, io, id);
  changeCommand<number>(accounts, io, {
    name: 'rotate-secret',
    arg: id,
    says: 'issue a new signing secret; the old one also signs for 24 hours, and the output says until when',
    seals: true,
    change: (to, given, by) => to.rotateSecret(given, by),
  });
}

export function publishersCommand(program: Command, io: CommandIo): void {
  const publishers = program
    .command('publishers')
    .description('register payment systems that publish by HTTP, and manage their credentials');
  const name = ['<name>', NAME, publisherName] as const;
  changeCommand<string>(publishers, io, {
    name: 'register',
    arg: name,
    says: 'register a publisher; prints its client id and client secret',
    change: (to, given, by) => to.registerPublisher(given, by),
  });
  command(publishers, io, {
    name: 'list',
    says: 'list the publishers with their client ids',
    async run(running) {
      for (const [given, clientIds] of await publishersIn((await running.open()).store))
        await running.print({ name: given, clientIds }, `${given.padEnd(24)} ${clientIds.join(' ')}`.trimEnd());
    },
  });
  credentialCommands(publishers, io, name);
}

/** A client id names its owner, an account or a publisher. */
function credentialCommands(owners: Command, io: CommandIo, owner: Change<ClientOwner>['arg']): void {
  changeCommand<ClientOwner>(owners, io, {
    name: 'issue-credential',
    arg: owner,
    says: 'issue another client id and secret',
    change: (to, given, by) => to.issueCredential(given, by),
  });
  changeCommand<string>(owners, io, {
    name: 'revoke-credential',
    arg: ['<clientId>'],
    says: 'revoke a client id and its tokens',
    change: (to, given, by) => to.revokeCredential(given, by),
  });
}

interface Change<T extends ClientOwner> {
  readonly name: string;
  readonly says: string;
  readonly arg: readonly [flags: string, says?: string, parse?: (value: string) => ClientOwner];
  readonly seals?: true;
  readonly change: (registration: Registration, given: T, by: CommandContext) => Promise<object>;
}

/** Makes the change and prints what it returns. */
function changeCommand<T extends ClientOwner>(owners: Command, io: CommandIo, of: Change<T>): void {
  command<object, [T]>(owners, io, {
    name: of.name,
    says: of.says,
    args: [of.arg],
    async run(running) {
      const [given] = running.args;
      const backbone = await running.open(of.name === 'register');
      if (of.seals) await checkKeyOfCommand(backbone);
      const result = await of.change(registrationIn(backbone), given, operatorContext());
      const lines = Object.entries(result).map(([name, value]) => `${name.padEnd(14)} ${value}`);
      if ('clientSecret' in result || 'signingSecret' in result) lines.push(ONCE);
      if ('previousEndsAt' in result) lines.push(BOTH_SIGN);
      await running.print(result, ...lines);
    },
  });
}

export function registrationIn(backbone: Pick<Backbone, 'store' | 'sealing' | 'projections'>, now = () => new Date()) {
  const { store, sealing, projections } = backbone;
  const isKnownCredential = projections ? credentialsOnServer(projections) : async () => false;
  return createRegistration({ store, sealing, isKnownCredential, randomBytes, newEventId: randomUUID, now });
}

/**
 * The read model of a running service is locked, so this asks the projections of the event store's server, if they are deployed.
 * Whatever they lack, or fail at, is read from the store.
 */
export function credentialsOnServer(projections: Pick<ProjectionServer, 'state'>) {
  return async (owner: ClientOwner, clientId: string): Promise<boolean> => {
    const asked = projections.state('account-credentials', streamOf(owner)).catch(() => null);
    const state = await Promise.race([asked, delay(SERVER_WITHIN_MS, null, { ref: false })]);
    const { credentials } = (state ?? {}) as Partial<AccountCredentials>;
    return Array.isArray(credentials) && credentials.some((credential) => credential?.clientId === clientId);
  };
}

function publisherName(value: string): string {
  if (PUBLISHER_NAME.test(value)) return value;
  throw new InvalidArgumentError(`A name is ${NAME}`);
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
