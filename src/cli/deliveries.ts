/** deliveries and dead-letters: what became of payment events, read from the broker's topics. */
import type { Command } from 'commander';
import type { Config } from '../config.js';
import { readDeadLetter } from '../delivery/dead-letters.js';
import { type DeliveryView, deliveriesOf } from '../delivery/delivery-log.js';
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
  program
    .command('dead-letters')
    .description('records that are not tried any more')
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

function line({ id, eventId, webhookId, outcome, attempts, nextAttemptAt }: DeliveryView): string {
  const last = attempts.at(-1);
  const answer = last ? (last.error ?? `status ${last.status}`) : 'no attempt';
  const next = nextAttemptAt ? `  next ${nextAttemptAt}` : '';
  return `${last?.at ?? '-'.repeat(24)}  ${id}  event ${eventId}  webhook ${webhookId}  ${outcome}  ${attempts.length} x, ${answer}${next}`;
}

function topics({ paymentTopics, topicPrefix }: Config): Topics {
  return topicsOf(paymentTopics, topicPrefix);
}
