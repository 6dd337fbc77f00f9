/** deliveries and dead-letters: what became of payment events, read from the broker's topics. */
import type { Command } from 'commander';
import type { Config } from '../config.js';
import { type DeadLetter, readDeadLetter } from '../delivery/dead-letters.js';
import { type DeliveryView, deliveriesOf } from '../delivery/delivery-log.js';
import { replayDeadLetters } from '../delivery/replay.js';
import { type Topics, topicsOf } from '../delivery/topics.js';
import { accountIdArgument, type CommandIo, JSON_OPTION, type JsonOption, withBackbone } from './command-io.js';

export function deliveriesCommand(program: Command, io: CommandIo): void {
  program
    .command('deliveries')
    .description('what was delivered')
    .command('list')
    .description("an account's deliveries with every attempt, newest first")
    .requiredOption('--account <id>', 'the account', accountIdArgument)
    .option(...JSON_OPTION)
    .action(async ({ account, json }: JsonOption & { account: number }) => {
      const config = io.config();
      const deliveries = await withBackbone(config, ({ broker }) =>
        deliveriesOf(account, broker.browse(topics(config).deliveries)),
      );
      for (const delivery of deliveries) await io.print(json ? JSON.stringify(delivery) : line(delivery));
    });
}

export function deadLettersCommand(program: Command, io: CommandIo): void {
  const deadLetters = program.command('dead-letters').description('records that are not tried any more');
  deadLetters
    .command('replay')
    .description('try again what was exhausted and has not gone on since; the webhook-id stays the same')
    .option('--account <id>', 'only those of an account', accountIdArgument)
    .option('--event <id>', 'only those of a payment event')
    .option(...JSON_OPTION)
    .action((options: ReplayOptions) => replay(options, io));

  deadLetters
    .command('list')
    .description('the dead letters with their reasons, oldest first')
    .option(...JSON_OPTION)
    .action(({ json }: JsonOption) => {
      const config = io.config();
      return withBackbone(config, async ({ broker }) => {
        for await (const record of broker.browse(topics(config).deadLetters)) {
          const letter = readDeadLetter(record);
          const { at, reason, detail, eventId, source } = letter;
          await io.print(json ? JSON.stringify(letter) : `${at}  ${reason}  ${detail}  ${eventId ?? source ?? ''}`);
        }
      });
    });
}

interface ReplayOptions extends JsonOption {
  readonly account?: number;
  readonly event?: string;
}

function replay({ account, event, json }: ReplayOptions, io: CommandIo): Promise<void> {
  const config = io.config();
  const wanted = ({ accountId, eventId }: DeadLetter) =>
    (account === undefined || accountId === account) && (event === undefined || eventId === event);
  return withBackbone(config, async ({ broker }) => {
    const parts = { broker, topics: topics(config), tier: config.retrySchedule[0], now: Date.now };
    let replayed = 0;
    for await (const { deliveryId, eventId, accountId, webhookId } of replayDeadLetters(parts, wanted)) {
      replayed += 1;
      const id = deliveryId;
      if (json) await io.print(JSON.stringify({ id, eventId, accountId, webhookId }));
      else await io.print(`${id}  event ${eventId}  account ${accountId}  webhook ${webhookId}  is tried again`);
    }
    if (!json) await io.print(`${replayed} replayed`);
  });
}

function line({ id, eventId, webhookId, outcome, attempts, nextAttemptAt }: DeliveryView): string {
  const last = attempts.at(-1);
  const answer = last ? (last.error ?? `status ${last.status}`) : 'no attempt';
  const next = nextAttemptAt ? `  next ${nextAttemptAt}` : '';
  return `${last?.at ?? '-'.repeat(24)}  ${id}  event ${eventId}  webhook ${webhookId}  ${outcome}  ${attempts.length} x, ${answer}${next}`;
}

function topics({ paymentTopics, topicPrefix }: Config): Topics {
  return topicsOf(paymentTopics, topicPrefix);
}
