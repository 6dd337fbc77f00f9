/** dead-letters: lists records that are no longer retried, and replays them. */
import { type Command, InvalidArgumentError } from 'commander';
import { type DeadLetter, readDeadLetter } from '../delivery/retry/dead-letters.js';
import { type Replay, replayDeadLetters } from '../delivery/retry/replay.js';
import { shortestTier } from '../delivery/retry/tiers.js';
import { type Topics, topicsOf } from '../delivery/topics.js';
import type { Broker } from '../ports/broker.js';
import type { EventStore } from '../ports/event-store.js';
import { unreadableEventOf } from '../read-model/account-unreadable.js';
import type { Config } from '../settings/config.js';
import { accountIdArgument, type CommandIo, JSON_OPTION, type JsonOption, withBackbone } from './command-io.js';
import { asTheyCome, type Line, newest, oldestFirst } from './oldest-first.js';
import { assertRegistered } from './registered.js';

export function deadLettersCommand(program: Command, io: CommandIo): void {
  const deadLetters = program
    .command('dead-letters')
    .description('list dead letters (records that are no longer tried), and replay them');
  deadLetters
    .command('replay')
    .description(
      'retry exhausted deliveries that have not resumed since, with the same webhook-id; republish payments of accounts that could not be read',
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
  for await (const record of broker.browse(topic)) {
    const { timestamp, partition, offset } = record;
    yield { place: { timestamp, partition, offset }, text: () => shown(readDeadLetter(record)) };
  }
}

function line({ at, reason, detail, eventId, source }: DeadLetter): string {
  return `${at}  ${reason}  ${detail}  ${eventId ?? source ?? ''}`;
}

function limitArgument(value: string): number {
  const limit = Number(value);
  if (/^[1-9]\d*$/.test(value) && Number.isSafeInteger(limit)) return limit;
  throw new InvalidArgumentError('A limit is a whole number, 1 or greater.');
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
    const isReadable = readability(store);
    const named = topics(config);
    const tier = await shortestTier(broker, named);
    const parts = { broker, topics: named, tier, isReadable, now: Date.now };
    const counts = { replayed: 0, published: 0, left: 0, unreadable: 0 };
    for await (const { kind, letter } of replayDeadLetters(parts, wanted)) {
      counts[kind] += 1;
      const text = textOf(kind, letter);
      if (text !== null) await io.print(json ? asJson(letter) : text);
    }
    if (Object.values(counts).every((count) => count === 0) && account !== undefined)
      await assertRegistered(store, account);
    if (!json) await io.print(`${counts.replayed + counts.published} replayed`);
    await warnOfLeft(counts, io);
  });
}

async function warnOfLeft({ left, unreadable }: Record<'left' | 'unreadable', number>, io: CommandIo): Promise<void> {
  if (left > 0) await io.warn(`${left} not replayed: for webhooks that this event store does not have (other-history)`);
  if (unreadable > 0)
    await io.warn(`${unreadable} not replayed: of accounts that can't be read (account-unreadable); see doctor`);
}

/** Reads each account once. */
function readability(store: EventStore): (accountId: number) => Promise<boolean> {
  const known = new Map<number, boolean>();
  return async (accountId) => {
    const isReadable = known.get(accountId) ?? (await unreadableEventOf(store, accountId)) === null;
    known.set(accountId, isReadable);
    return isReadable;
  };
}

function asJson({ deliveryId: id, eventId, accountId, webhookId }: DeadLetter): string {
  return JSON.stringify({ id, eventId, accountId, webhookId });
}

/** Null for letters that are not replayed. */
function textOf(kind: Replay['kind'], letter: DeadLetter): string | null {
  switch (kind) {
    case 'replayed':
      return triedAgain(letter);
    case 'published':
      return publishedAgain(letter);
    case 'left':
    case 'unreadable':
      return null;
    default:
      return kind satisfies never;
  }
}

function triedAgain({ deliveryId: id, eventId, accountId, webhookId }: DeadLetter): string {
  return `${id}  event ${eventId}  account ${accountId}  webhook ${webhookId}  is retried`;
}

function publishedAgain({ eventId, accountId }: DeadLetter): string {
  return `event ${eventId}  account ${accountId}  is published again`;
}

function topics({ paymentTopics, topicPrefix }: Config): Topics {
  return topicsOf(paymentTopics, topicPrefix);
}
