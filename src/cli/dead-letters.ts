/** dead-letters: lists records that are no longer retried, and replays them. */

import type { Command } from 'commander';
import { LRUCache } from 'lru-cache';
import { type DeadLetter, readDeadLetter } from '../delivery/dead-letters.js';
import { confirmedRecipientOf } from '../delivery/recipient.js';
import { type Left, type Replay, type ReplayParts, replayDeadLetters } from '../delivery/retry/replay.js';
import { type Topics, topicsOf } from '../delivery/topics.js';
import type { Broker, ReceivedRecord } from '../ports/broker.js';
import type { EventStore } from '../ports/event-store.js';
import type { Scratch } from '../ports/scratch.js';
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
  SCRATCH_OPTION,
  type ScratchOption,
  wholeArgument,
  withBackbone,
  withScratch,
} from './command-io.js';

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
    .option(...SCRATCH_OPTION)
    .option(...JSON_OPTION)
    .action((options: ReplayOptions) => withScratch(options, (open) => replay(options, open(), io)));

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
    const texts = lettersOf(broker, topics(config).deadLetters, json ? JSON.stringify : line);
    for await (const text of limit === undefined ? texts : await newest(texts, limit)) await io.print(text);
  });
}

async function* lettersOf(broker: Broker, topic: string, shown: (letter: DeadLetter) => string): AsyncIterable<string> {
  const partitions = [...(await broker.extent(topic))].map(([partition, { first }]) =>
    topicRecords(broker, topic, { ranges: new Map([[partition, { from: first }]]) }),
  );
  for await (const record of oldestFirst(partitions)) yield shown(readDeadLetter(record));
}

/** Merges partitions by time, each in the order of its offsets. */
export async function* oldestFirst(
  partitions: readonly AsyncIterable<ReceivedRecord>[],
): AsyncIterable<ReceivedRecord> {
  const readers = partitions.map((records) => records[Symbol.asyncIterator]());
  try {
    let heads = await Promise.all(readers.map(async (reader) => ({ reader, head: await reader.next() })));
    for (;;) {
      heads = heads.filter(({ head }) => !head.done);
      const [first, ...others] = heads;
      if (!first) return;
      const oldest = others.reduce((one, other) => (isBefore(other.head.value, one.head.value) ? other : one), first);
      yield oldest.head.value;
      oldest.head = await oldest.reader.next();
    }
  } finally {
    await Promise.all(readers.map((reader) => reader.return?.()));
  }
}

function isBefore(one: ReceivedRecord, other: ReceivedRecord): boolean {
  return (one.timestamp - other.timestamp || one.partition - other.partition) < 0;
}

/** Holds up to twice as many meanwhile. */
async function newest(texts: AsyncIterable<string>, count: number): Promise<readonly string[]> {
  let last: string[] = [];
  for await (const text of texts) {
    last.push(text);
    if (last.length >= 2 * count) last = last.slice(-count);
  }
  return last.slice(-count);
}

function line({ at, reason, detail, eventId, source }: DeadLetter): string {
  return `${at ?? '-'.repeat(24)}  ${reason}  ${detail}  ${eventId ?? source ?? ''}`;
}

interface ReplayOptions extends JsonOption, ScratchOption {
  readonly account?: number;
  readonly event?: string;
}

function replay({ account, event, json }: ReplayOptions, scratch: Scratch, io: CommandIo): Promise<void> {
  const config = io.config();
  const wanted = ({ accountId, eventId }: DeadLetter) =>
    (account === undefined || accountId === account) && (event === undefined || eventId === event);
  return withBackbone(config, async ({ broker, store }) => {
    const named = topics(config);
    const actor = operatorActor();
    const parts = { broker, topics: named, ...accountsNow(store), now: Date.now, actor, scratch };
    const counts: Record<Replay['kind'], number> = { replayed: 0, published: 0, ...NONE_LEFT };
    const answer = new LastingAnswer(io);
    for await (const { kind, letter } of replayDeadLetters(parts, wanted)) {
      counts[kind] += 1;
      if (!(kind in LEFT)) await answer.print(json ? asJson(letter) : againText(kind, letter));
    }
    if (Object.values(counts).every((count) => count === 0) && account !== undefined)
      await assertRegistered(store, account);
    if (!json) await answer.print(`${counts.replayed + counts.published} replayed`);
    await warnOfLeft(counts, io);
    answer.end();
  });
}

const LEFT: Readonly<Record<Left, string>> = {
  inactive: 'for webhooks that are switched off or removed; activate them first (deactivated)',
  'other-history': 'for webhooks that this event store does not have (other-history)',
  'account-unreadable': "of accounts that can't be read (account-unreadable); see doctor",
  'unreadable-batch': 'batches that still cannot be read, or that their topics no longer have (unreadable-batch)',
};

const KINDS_LEFT = Object.keys(LEFT) as Left[];
const NONE_LEFT = Object.fromEntries(KINDS_LEFT.map((kind) => [kind, 0])) as Record<Left, number>;

async function warnOfLeft(counts: Readonly<Record<Left, number>>, io: CommandIo): Promise<void> {
  for (const kind of KINDS_LEFT) if (counts[kind] > 0) await io.warn(`${counts[kind]} not replayed: ${LEFT[kind]}`);
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

function againText(kind: Replay['kind'], letter: DeadLetter): string {
  const { deliveryId: id, eventId, accountId, webhookId, reason, source, lastOffset } = letter;
  if (kind === 'replayed') return `${id}  event ${eventId}  account ${accountId}  webhook ${webhookId}  is retried`;
  if (reason === 'unreadable-batch') return `batch ${source} to ${lastOffset}  is published again`;
  return `event ${eventId}  account ${accountId}  is published again`;
}

function topics({ paymentTopics, topicPrefix }: Config): Topics {
  return topicsOf(paymentTopics, topicPrefix);
}
