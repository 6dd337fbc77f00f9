/** events publish: NDJSON payment events from stdin to the configured broker, as a payment system would. */
import type { Command } from 'commander';
import type { Broker, NewRecord } from '../ports/broker.js';
import { type CommandIo, JSON_OPTION, withBackbone } from './command-io.js';
import { skipCommand } from './events-skip.js';

/** Lines that are published at once: durable together, in order. */
const BATCH = 500;
const NEWLINE = 0x0a;

interface PublishOptions {
  readonly topic?: string;
  readonly json?: boolean;
}

export function eventsCommand(program: Command, io: CommandIo): void {
  const events = program.command('events').description('publish payment events');
  skipCommand(events, io);

  events
    .command('publish')
    .description('publish the payment events on stdin, one a line; done when all are durable')
    .option('--topic <topic>', 'default: the first of PAYMENT_TOPICS')
    .option(...JSON_OPTION)
    .action(async ({ topic, json }: PublishOptions) => {
      const config = io.config();
      const published = await withBackbone(config, ({ broker }) =>
        publishLines(broker, topic ?? config.paymentTopics[0], io.stdin),
      );
      await io.print(
        json ? JSON.stringify({ published }) : `published ${published} ${published === 1 ? 'event' : 'events'}`,
      );
    });
}

async function publishLines(broker: Broker, topic: string, input: AsyncIterable<Buffer>): Promise<number> {
  let published = 0;
  let batch: NewRecord[] = [];
  const flush = async () => {
    if (batch.length > 0) await broker.publish(topic, batch);
    published += batch.length;
    batch = [];
  };
  for await (const line of lines(input)) {
    batch.push({ key: keyOf(line), value: line, headers: [] });
    if (batch.length === BATCH) await flush();
  }
  await flush();
  return published;
}

/** The bytes of each line that is not empty, unchanged: what is published is what was given. */
async function* lines(input: AsyncIterable<Buffer>): AsyncIterable<Buffer> {
  const rest: Buffer[] = [];
  for await (const chunk of input) {
    let begin = 0;
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, begin)) {
      const line = Buffer.concat([...rest.splice(0), chunk.subarray(begin, end)]);
      if (!isBlank(line)) yield line;
      begin = end + 1;
    }
    rest.push(Buffer.from(chunk.subarray(begin)));
  }
  const last = Buffer.concat(rest);
  if (!isBlank(last)) yield last;
}

/** Empty, or the carriage return of a Windows line end. */
function isBlank(line: Buffer): boolean {
  return line.length === 0 || (line.length === 1 && line[0] === 0x0d);
}

/** The account, so that the events of one account keep their order; what is no event is the dispatcher's to judge. */
function keyOf(line: Buffer): Buffer | null {
  try {
    const accountId: unknown = JSON.parse(line.toString('utf8'))?.accountId;
    return typeof accountId === 'number' || typeof accountId === 'string' ? Buffer.from(String(accountId)) : null;
  } catch {
    return null;
  }
}
