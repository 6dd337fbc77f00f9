/** publishers: registers payment systems that publish by HTTP, and manages their credentials, directly in the event store. */
import { type Command, InvalidArgumentError } from 'commander';
import { PUBLISHER_NAME } from '../accounts/client-credentials.js';
import type { Issued } from '../accounts/registration.js';
import type { EventStore } from '../ports/event-store.js';
import { type Folded, foldNext } from '../read-model/fold.js';
import { loadProjection } from '../read-model/projection-source.js';
import { storedBatches } from '../read-model/stored-events.js';
import { PUBLISHER_STREAM_PREFIX } from '../webhooks/events.js';
import type { AccountCredentials } from '../webhooks/state.js';
import { answer, revokeCredentialCommand } from './accounts.js';
import { type CommandIo, JSON_OPTION, type JsonOption, withBackbone } from './command-io.js';

export function publishersCommand(program: Command, io: CommandIo): void {
  const publishers = program
    .command('publishers')
    .description('register payment systems that publish by HTTP, and manage their credentials');

  publishers
    .command('register')
    .description('register a publisher; prints its client id and client secret')
    .argument('<name>', '1 to 64 of A-Z a-z 0-9 . _ -', publisherName)
    .option(...JSON_OPTION)
    .action((name: string, { json }: JsonOption) =>
      answer(io, json, { change: (to, by) => to.registerPublisher(name, by), lost }),
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
      answer(io, json, { change: (to, by) => to.issueCredential(name, by), lost }),
    );

  revokeCredentialCommand(publishers, io);
}

const lost = ({ name, clientId }: Issued<string>): string =>
  `the secret of ${clientId} was not shown: run publishers revoke-credential ${clientId}, then publishers issue-credential ${name}`;

function publisherName(value: string): string {
  if (PUBLISHER_NAME.test(value)) return value;
  throw new InvalidArgumentError('A name is 1 to 64 of A-Z a-z 0-9 . _ -');
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
