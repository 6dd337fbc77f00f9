/** dead-letters: lists records that are no longer retried, and replays them. */

import type { Command } from 'commander';
import { LRUCache } from 'lru-cache';
import { confirmedRecipientOf } from '../delivery/recipient.js';
import { type DeadLetter, readDeadLetter } from '../delivery/retry/dead-letters.js';
import { type Left, type Replay, type ReplayParts, replayDeadLetters } from '../delivery/retry/replay.js';
import { shortestTier } from '../delivery/retry/tiers.js';
import { type Topics, topicsOf } from '../delivery/topics.js';
import type { Broker } from '../ports/broker.js';
import type { EventStore } from '../ports/event-store.js';
import { topicRecords } from '../ports/topic-records.js';
import { type AccountNow, accountNow } from '../read-model/accounts.js';
import { createWasRemoved } from '../read-model/removed-webhooks.js';
import type { Config } from '../settings/config.js';
import {
  accountIdArgument,
  assertRegistered,
  type CommandIo,
  JSON_OPTION,
  type JsonOption,
  LastingAnswer,
  operatorActor,
  wholeArgument,
  withBackbone,
} from './command-io.js';
import { asTheyCome, type Line, newest, oldestFirst } from './oldest-first.js';

/** 1 MiB each at most. */
const REMEMBERED_ACCOUNTS = 100;
const limitArgument = wholeArgument('A limit is a whole number, 1 or greater.');

export function deadLettersCommand(program: Command, io: CommandIo): void {
  const deadLetters = program
    .command('dead-letters')
    .description('list dead letters (records that are no longer tried), and replay them');
  deadLetters
    .command('replay')
    .description(
      'retry deliveries that were given up or held and have not resumed since, with the same webhook-id, if their webhooks are active; republish payments of accounts, and records of batches, that could not be read',
    )
    .option('--account <id>', 'only deliveries of this account', accountIdArgument)
    .option('--event <id>', 'only deliveries of this payment event')
    .option(...JSON_OPTION)
    .action((options: ReplayOptions) => replay(options, io));

  deadLetters
    .command('list')
    .description('list the dead letters with their reasons, oldest first')
    .option('--limit <n>', 'only the newest n, still oldest first', limitArgument)
    .option(...JSON_OPTION)
    .action((options: ListOptions) => list(options, io));
}

interface ListOptions extends JsonOption {
  readonly limit?: number;
}

function list({ limit, json = false }: ListOptions, io: CommandIo): Promise<void> {
  const config = io.config();
  return withBackbone(config, async ({ broker }) => {
    const read = () => lines(broker, topics(config).deadLetters, json ? JSON.stringify : line);
    for await (const text of await chosen(read, config, limit)) await io.print(text);
  });
}

/** The embedded broker has one partition, in order of time: its length needs no memory. */
async function chosen(
  read: () => AsyncIterable<Line>,
  { kafka }: Config,
  limit: number | undefined,
): Promise<AsyncIterable<string> | readonly string[]> {
  if (limit !== undefined) return newest(read, limit);
  return kafka ? oldestFirst(read) : asTheyCome(read());
}

async function* lines(broker: Broker, topic: string, shown: (letter: DeadLetter) => string): AsyncIterable<Line> {
  for await (const record of topicRecords(broker, topic)) {
    const { timestamp, partition, offset } = record;
    yield { place: { timestamp, partition, offset }, text: () => shown(readDeadLetter(record)) };
  }
}

function line({ at, reason, detail, eventId, source }: DeadLetter): string {
  return `${at ?? '-'.repeat(24)}  ${reason}  ${detail}  ${eventId ?? source ?? ''}`;
}

interface ReplayOptions extends JsonOption {
  readonly account?: number;
  readonly event?: string;
}

function replay({ account, event, json }: ReplayOptions, io: CommandIo): Promise<void> {
  const config = io.config();
  const wanted = ({ accountId, eventId }: DeadLetter) =>
    (account === undefined || accountId === account) && (event === undefined || eventId === event);
  return withBackbone(config, async ({ broker, store }) => {
    const named = topics(config);
    const tier = await shortestTier(broker, named);
    const actor = operatorActor();
    const parts = { broker, topics: named, tier, ...accountsNow(store), now: Date.now, actor };
    const counts = { replayed: 0, published: 0, ...NONE_LEFT };
    const answer = new LastingAnswer(io);
    for await (const { kind, letter } of replayDeadLetters(parts, wanted)) {
      counts[kind] += 1;
      const text = textOf(kind, letter);
      if (text !== null) await answer.print(json ? asJson(letter) : text);
    }
    if (Object.values(counts).every((count) => count === 0) && account !== undefined)
      await assertRegistered(store, account);
    if (!json) await answer.print(`${counts.replayed + counts.published} replayed`);
    await warnOfLeft(counts, io);
    answer.end();
  });
}

const NONE_LEFT = {
  inactive: 0,
  'other-history': 0,
  'account-unreadable': 0,
  'record-refused': 0,
  'unreadable-batch': 0,
};
const LEFT: Readonly<Record<Left, string>> = {
  inactive: 'for webhooks that are switched off or removed; activate them first (deactivated)',
  'other-history': 'for webhooks that this event store does not have (other-history)',
  'account-unreadable': "of accounts that can't be read (account-unreadable); see doctor",
  'unreadable-batch': 'batches that still cannot be read, or that their topics no longer have (unreadable-batch)',
  'record-refused': 'their topics refuse them, see max.message.bytes of the topics (record-refused)',
};

async function warnOfLeft(counts: Readonly<Record<Left, number>>, io: CommandIo): Promise<void> {
  for (const [kind, why] of Object.entries(LEFT)) {
    const count = counts[kind as Left];
    if (count > 0) await io.warn(`${count} not replayed: ${why}`);
  }
}

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

function asJson({ deliveryId: id, eventId, accountId, webhookId, reason, source, lastOffset }: DeadLetter): string {
  if (reason === 'unreadable-batch') return JSON.stringify({ source, lastOffset });
  return JSON.stringify({ id, eventId, accountId, webhookId });
}

/** Null for letters that are not replayed. */
function textOf(kind: Replay['kind'], letter: DeadLetter): string | null {
  switch (kind) {
    case 'replayed':
      return triedAgain(letter);
    case 'published':
      return publishedAgain(letter);
    case 'inactive':
    case 'other-history':
    case 'account-unreadable':
    case 'record-refused':
    case 'unreadable-batch':
      return null;
    default:
      return kind satisfies never;
  }
}

function triedAgain({ deliveryId: id, eventId, accountId, webhookId }: DeadLetter): string {
  return `${id}  event ${eventId}  account ${accountId}  webhook ${webhookId}  is retried`;
}

function publishedAgain({ eventId, accountId, reason, source, lastOffset }: DeadLetter): string {
  if (reason === 'unreadable-batch') return `batch ${source} to ${lastOffset}  is published again`;
  return `event ${eventId}  account ${accountId}  is published again`;
}

function topics({ paymentTopics, topicPrefix }: Config): Topics {
  return topicsOf(paymentTopics, topicPrefix);
}
