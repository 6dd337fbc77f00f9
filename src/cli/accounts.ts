/** accounts: registers accounts and issues their secrets, directly in the event store. */
import { randomBytes, randomUUID } from 'node:crypto';
import type { Command } from 'commander';
import { createRegistration, type IssuedCredential, type Registration } from '../accounts/registration.js';
import type { CommandContext } from '../webhooks/envelope.js';
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

const ONCE = 'The secrets are shown only once: they can not be read again.';
const BOTH_SIGN = 'Until previousEndsAt, deliveries are also signed with the old secret.';

export function accountsCommand(program: Command, io: CommandIo): void {
  const accounts = program.command('accounts').description('register accounts and manage their credentials');

  accounts
    .command('register')
    .description('register an account; prints its client id, client secret and signing secret')
    .argument('<id>', 'a positive whole number', accountIdArgument)
    .option(...JSON_OPTION)
    .action((id: number, { json }: JsonOption) =>
      answer(io, json, { change: (to, by) => to.register(id, by), lost: lostAccount(id) }),
    );

  accounts
    .command('issue-credential')
    .description('issue another client id and secret')
    .argument('<id>', 'the account', accountIdArgument)
    .option(...JSON_OPTION)
    .action((id: number, { json }: JsonOption) =>
      answer(io, json, { change: (to, by) => to.issueCredential(id, by), lost: lostCredential }),
    );

  revokeCredentialCommand(accounts, io);

  accounts
    .command('rotate-secret')
    .description('issue a new signing secret; the old one also signs for 24 hours, and the output says until when')
    .argument('<id>', 'the account', accountIdArgument)
    .option(...JSON_OPTION)
    .action((id: number, { json }: JsonOption) =>
      answer(io, json, { change: (to, by) => to.rotateSecret(id, by), lost: lostSecret(id) }),
    );
}

/** The client id names its owner, an account or a publisher. */
export function revokeCredentialCommand(owners: Command, io: CommandIo): void {
  owners
    .command('revoke-credential')
    .description('revoke a client id and its tokens')
    .argument('<clientId>')
    .option(...JSON_OPTION)
    .action((clientId: string, { json }: JsonOption) =>
      answer(io, json, { change: (to, by) => to.revokeCredential(clientId, by) }),
    );
}

interface Changing<R> {
  readonly change: (registration: Registration, by: CommandContext) => Promise<R>;
  /** How to get other secrets where these could not be shown. */
  readonly lost?: (result: R) => string;
}

/** Makes the change and prints what it returns. */
export async function answer<R extends object>(
  io: CommandIo,
  json: boolean | undefined,
  { change, lost }: Changing<R>,
): Promise<void> {
  const result = await withBackbone(io.config(), ({ store, sealing }) => {
    const registration = createRegistration({
      store,
      sealing,
      randomBytes,
      newEventId: randomUUID,
      now: () => new Date(),
    });
    return change(registration, operatorContext());
  });
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

const lostAccount = (id: number) => (): string =>
  `account ${id} is registered, but its secrets were not shown: get others by accounts issue-credential ${id} and accounts rotate-secret ${id}`;

const lostCredential = ({ accountId, clientId }: IssuedCredential): string =>
  `the secret of ${clientId} was not shown: run accounts revoke-credential ${clientId}, then accounts issue-credential ${accountId}`;

const lostSecret = (id: number) => (): string =>
  `account ${id} has a new signing secret, which was not shown: get another by accounts rotate-secret ${id}`;
