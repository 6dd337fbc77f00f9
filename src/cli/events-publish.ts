/** events publish: NDJSON payment events from stdin to the configured broker, as a payment system would. */
import type { Command } from 'commander';
import { parsePaymentEvent } from '../delivery/payment/payment-event.js';
import type { Broker, NewRecord } from '../ports/broker.js';
import { CommandFailed, type CommandIo, JSON_OPTION, LastingAnswer, withBackbone } from './command-io.js';
import { skipCommand } from './events-skip.js';
import { type NumberedLine, numberedLines } from './numbered-lines.js';
import { openSpool } from './spool.js';

/** Lines per publication: made durable together, in order. */
const BATCH = 500;
const BATCH_BYTES = 4 * 1024 * 1024;

type Warn = CommandIo['warn'];

interface PublishOptions {
  readonly topic?: string;
  readonly check?: boolean;
  readonly json?: boolean;
}

export function eventsCommand(program: Command, io: CommandIo): void {
  const events = program.command('events').description('publish payment events, and step over unreadable batches');
  skipCommand(events, io);

  events
    .command('publish')
    .description('publish the payment events on stdin, one per line; ends when all are durable')
    .option('--topic <topic>', 'default: the first of PAYMENT_TOPICS')
    .option('--check', 'publish nothing and exit with 1 if a line is not a payment event')
    .option(...JSON_OPTION)
    .action((options: PublishOptions) => (options.check ? publishChecked(options, io) : publishAll(options, io)));
}

/** One pass: an invalid line is reported but published all the same. The dispatcher decides. */
async function publishAll(options: PublishOptions, io: CommandIo): Promise<void> {
  await publish(options, io, numberedLines(io.stdin), io.warn);
}

/** Two passes over a temporary file: stdin can't be read twice and may exceed the memory. */
async function publishChecked(options: PublishOptions, io: CommandIo): Promise<void> {
  // Reports a wrong setting before the first pass, which may be long.
  io.config();
  const spool = await openSpool(io.stdin);
  try {
    const wrong = await countWrong(numberedLines(spool.first()), io.warn);
    if (wrong === 0) return await publish(options, io, numberedLines(spool.again()), async () => undefined);
    const answer = new LastingAnswer(io);
    if (options.json) await answer.print(JSON.stringify({ published: 0 }));
    answer.end(
      new CommandFailed(
        `nothing was published: ${wrong} ${wrong === 1 ? 'line is not a payment event' : 'lines are not payment events'}`,
      ),
    );
  } finally {
    await spool.close();
  }
}

async function publish(
  { topic, json }: PublishOptions,
  io: CommandIo,
  lines: AsyncIterable<NumberedLine>,
  warn: Warn,
): Promise<void> {
  const config = io.config();
  const published = await withBackbone(config, ({ broker }) =>
    publishLines({ broker, topic: topic ?? config.paymentTopics[0], warn }, lines),
  );
  await io.print(
    json ? JSON.stringify({ published }) : `published ${published} ${published === 1 ? 'event' : 'events'}`,
  );
}

async function countWrong(lines: AsyncIterable<NumberedLine>, warn: Warn): Promise<number> {
  let wrong = 0;
  for await (const line of lines) {
    const parsed = parsePaymentEvent({ value: line.bytes, headers: [] });
    if (parsed.ok) continue;
    wrong += 1;
    await warn(problemOf(line, parsed.reason));
  }
  return wrong;
}

interface Publishing {
  readonly broker: Broker;
  readonly topic: string;
  readonly warn: Warn;
}

async function publishLines({ broker, topic, warn }: Publishing, lines: AsyncIterable<NumberedLine>): Promise<number> {
  let published = 0;
  let bytes = 0;
  let batch: NewRecord[] = [];
  const flush = async () => {
    if (batch.length > 0) await broker.publish(topic, batch);
    published += batch.length;
    [batch, bytes] = [[], 0];
  };
  for await (const line of lines) {
    const parsed = parsePaymentEvent({ value: line.bytes, headers: [] });
    if (!parsed.ok) await warn(problemOf(line, parsed.reason));
    const key = parsed.ok ? Buffer.from(String(parsed.event.accountId)) : keyOf(line.bytes);
    batch.push({ key, value: line.bytes, headers: [] });
    bytes += line.bytes.length;
    if (batch.length === BATCH || bytes >= BATCH_BYTES) await flush();
  }
  await flush();
  return published;
}

function problemOf({ number }: NumberedLine, reason: string): string {
  return `line ${number} is not a payment event: ${reason}`;
}

/** The account of an invalid line, if it names one: the line keeps its place among the account's events. */
function keyOf(line: Buffer): Buffer | null {
  try {
    const accountId: unknown = JSON.parse(line.toString('utf8'))?.accountId;
    return typeof accountId === 'number' || typeof accountId === 'string' ? Buffer.from(String(accountId)) : null;
  } catch {
    return null;
  }
}
