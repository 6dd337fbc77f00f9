/** events skip: orders the process that holds a partition to skip an unreadable batch. */
import type { Command } from 'commander';
import { InvalidArgumentError } from 'commander';
import { skipped } from '../delivery/retry/dead-letters.js';
import { MEND_THE_LOG, standstillText } from '../delivery/standstill.js';
import { topicsOf } from '../delivery/topics.js';
import type { Broker, UnreadableBatch } from '../ports/broker.js';
import { CommandFailed, type CommandIo, JSON_OPTION, type JsonOption, withBackbone } from './command-io.js';

interface Place {
  readonly topic: string;
  readonly partition: number;
  readonly offset: number;
}

type Options = JsonOption & Place & { readonly reason: string };

export function skipCommand(events: Command, io: CommandIo): void {
  events
    .command('skip')
    .description('step over an unreadable batch that stops its partition (doctor names it)')
    .requiredOption('--topic <topic>', 'a payment topic, or a retry topic')
    .requiredOption('--partition <number>', 'the stopped partition', wholeArgument)
    .requiredOption('--offset <number>', 'an offset of the batch', wholeArgument)
    .requiredOption('--reason <text>', 'the reason, for auditors', reasonArgument)
    .option(...JSON_OPTION)
    .action(async (options: Options) => {
      const batch = await skip(io, options);
      await io.print(options.json ? JSON.stringify(batch) : textOf(batch));
    });
}

function skip(io: CommandIo, { topic, partition, offset, reason }: Options): Promise<UnreadableBatch> {
  const config = io.config();
  const topics = topicsOf(config.paymentTopics, config.topicPrefix);
  if (!topics.payments.includes(topic) && !topics.isTier(topic)) {
    throw new CommandFailed(
      `--topic ${topic} is not a topic that the service delivers from (a payment topic or a retry topic)`,
    );
  }
  return withBackbone(config, async ({ broker }) => {
    const batch = await unreadableAt(broker, { topic, partition, offset });
    await broker.ensureTopics([topics.deadLetters]);
    await broker.publish(topics.deadLetters, [skipped(batch, reason)]);
    return batch;
  });
}

/** @throws CommandFailed if the batch is readable: nothing is lost by mistake */
async function unreadableAt(broker: Broker, { topic, partition, offset }: Place): Promise<UnreadableBatch> {
  const ranges = new Map([[partition, { from: offset, to: offset + 1 }]]);
  const found: UnreadableBatch[] = [];
  const place = `partition ${partition} of ${topic}`;
  for await (const record of broker.browse(topic, { ranges, onUnreadable: (batch) => found.push(batch) })) {
    throw new CommandFailed(`offset ${record.offset} of ${place} can be read: there is nothing to step over`);
  }
  const [batch] = found;
  if (batch?.digest === null) throw new CommandFailed(`${standstillText(batch)}; ${MEND_THE_LOG}`);
  if (!batch) throw new CommandFailed(`there is no offset ${offset} in ${place}, or no such partition or topic`);
  return batch;
}

function textOf({ topic, partition, first, last, codec }: UnreadableBatch): string {
  const offsets = first === last ? `offset ${first}` : `offsets ${first} to ${last}`;
  return `partition ${partition} of ${topic}: ${offsets} (${codec}) will be stepped over; the order is in the dead letters`;
}

function wholeArgument(value: string): number {
  if (/^\d{1,15}$/.test(value)) return Number(value);
  throw new InvalidArgumentError('It must be a whole number, 0 or greater.');
}

function reasonArgument(value: string): string {
  const reason = value.trim();
  if (reason.length > 0 && reason.length <= 500) return reason;
  throw new InvalidArgumentError('A reason has 1 to 500 characters.');
}
