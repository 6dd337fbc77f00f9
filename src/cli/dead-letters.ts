/** dead-letters: lists records that are no longer retried, and replays them. */
import type { Command } from 'commander';
import { LRUCache } from 'lru-cache';
import { type DeadLetter, readDeadLetter } from '../delivery/dead-letters.js';
import { confirmedRecipientOf } from '../delivery/recipient.js';
import { type Left, type Replay, type ReplayParts, replayDeadLetters } from '../delivery/retry/replay.js';
import type { EventStore } from '../ports/event-store.js';
import { topicRecords } from '../ports/topic-records.js';
import { type AccountNow, accountNow } from '../read-model/accounts.js';
import { createWasRemoved } from '../read-model/removed-webhooks.js';
import { command, option, type Running } from './command.js';
import {
  accountIdArgument,
  assertRegistered,
  type CommandIo,
  operatorActor,
  SCRATCH_OPTION,
  type ScratchOption,
} from './command-io.js';

/** 1 MiB each at most. */
const REMEMBERED_ACCOUNTS = 100;

export function deadLettersCommand(program: Command, io: CommandIo): void {
  const deadLetters = program
    .command('dead-letters')
    .description('list dead letters (records that are no longer tried), and replay them');
  command<ReplayOptions>(deadLetters, io, {
    name: 'replay',
    says: 'retry deliveries that were given up or held and have not resumed since, with the same webhook-id, if their webhooks are active; republish payments of accounts, and records of batches, that could not be read',
    options: [
      option('--account <id>', 'only deliveries of this account', accountIdArgument),
      option('--event <id>', 'only deliveries of this payment event'),
      SCRATCH_OPTION(),
    ],
    run: replay,
  });
  command(deadLetters, io, {
    name: 'list',
    says: "list the dead letters with their reasons, in their topic's order",
    run: list,
  });
}

/** In the order in which the topic is read: oldest first within a partition. */
async function list(running: Running): Promise<void> {
  const { broker, topics } = await running.open();
  for await (const record of topicRecords(broker, topics.deadLetters)) {
    const letter = readDeadLetter(record);
    await running.print(letter, line(letter));
  }
}

function line({ at, reason, detail, eventId, source }: DeadLetter): string {
  return `${at ?? '-'.repeat(24)}  ${reason}  ${detail}  ${eventId ?? source ?? ''}`;
}

interface ReplayOptions extends ScratchOption {
  readonly account?: number;
  readonly event?: string;
}

async function replay(running: Running<ReplayOptions>): Promise<void> {
  const { options, io } = running;
  const { account, event } = options;
  const wanted = ({ accountId, eventId }: DeadLetter) =>
    (account === undefined || accountId === account) && (event === undefined || eventId === event);
  const { broker, store, topics } = await running.open();
  const parts = {
    broker,
    topics,
    ...accountsNow(store),
    now: Date.now,
    actor: operatorActor(),
    scratch: running.scratch(options.scratch),
  };
  const counts: Record<Replay['kind'], number> = { replayed: 0, published: 0, ...NONE_LEFT };
  for await (const { kind, letter } of replayDeadLetters(parts, wanted)) {
    counts[kind] += 1;
    if (!(kind in LEFT)) await running.print(asJson(letter), againText(kind, letter));
  }
  if (account !== undefined && Object.values(counts).every((count) => count === 0))
    await assertRegistered(store, account);
  if (!running.json) await running.say(`${counts.replayed + counts.published} replayed`);
  for (const kind of KINDS_LEFT) if (counts[kind] > 0) await io.warn(`${counts[kind]} not replayed: ${LEFT[kind]}`);
}

const LEFT: Readonly<Record<Left, string>> = {
  inactive: 'for webhooks that are switched off or removed; activate them first (deactivated)',
  'other-history': 'for webhooks that this event store does not have (other-history)',
  'account-unreadable': "of accounts that can't be read (account-unreadable); see doctor",
  'unreadable-batch': 'batches that still cannot be read, or that their topics no longer have (unreadable-batch)',
};

const KINDS_LEFT = Object.keys(LEFT) as Left[];
const NONE_LEFT = Object.fromEntries(KINDS_LEFT.map((kind) => [kind, 0])) as Record<Left, number>;

function accountsNow(store: EventStore): Pick<ReplayParts, 'recipientNow' | 'isReadable'> {
  const known = new LRUCache<number, AccountNow>({ max: REMEMBERED_ACCOUNTS });
  const wasRemoved = createWasRemoved(store);
  const account = async (accountId: number) => {
    const found = known.get(accountId) ?? (await accountNow(store, accountId));
    known.set(accountId, found);
    return found;
  };
  return {
    recipientNow: async (delivery) => confirmedRecipientOf(delivery, await account(delivery.accountId), wasRemoved),
    isReadable: async (accountId) => (await account(accountId)).unreadable(accountId) === null,
  };
}

function asJson({ deliveryId: id, eventId, accountId, webhookId, reason, source, lastOffset }: DeadLetter): object {
  return reason === 'unreadable-batch' ? { source, lastOffset } : { id, eventId, accountId, webhookId };
}

function againText(kind: Replay['kind'], letter: DeadLetter): string {
  const { deliveryId: id, eventId, accountId, webhookId, reason, source, lastOffset } = letter;
  if (kind === 'replayed') return `${id}  event ${eventId}  account ${accountId}  webhook ${webhookId}  is retried`;
  if (reason === 'unreadable-batch') return `batch ${source} to ${lastOffset}  is published again`;
  return `event ${eventId}  account ${accountId}  is published again`;
}
