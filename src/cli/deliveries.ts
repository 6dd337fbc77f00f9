/** deliveries: the state of payment events, read from the broker's topics; `resend` asks a running service. */

import type { Command } from 'commander';
import { type DeliveryView, deliveriesOf, deliveryTopics } from '../delivery/log/delivery-log.js';
import { whyOf } from '../delivery/next-step.js';
import { topicsOf } from '../delivery/topics.js';
import type { Scratch } from '../ports/scratch.js';
import { type ShownWait, shownWait } from '../ports/shown-wait.js';
import {
  accountIdArgument,
  assertRegistered,
  type CommandIo,
  JSON_OPTION,
  type JsonOption,
  SCRATCH_OPTION,
  type ScratchOption,
  withBackbone,
  withScratch,
} from './command-io.js';
import { asClient, type ClientOptions, callOnce } from './service-client.js';

export function deliveriesCommand(program: Command, io: CommandIo): void {
  const deliveries = program.command('deliveries').description('show deliveries, and send them again');
  const resend = deliveries
    .command('resend')
    .description('send a delivery again, through a running service')
    .argument('<id>', 'the webhook-id');
  asClient(resend).action((id: string, options: ClientOptions) =>
    callOnce(io, options, { method: 'POST', path: `/api/deliveries/${encodeURIComponent(id)}/resend` }),
  );
  deliveries
    .command('list')
    .description("list an account's deliveries with every attempt, newest first")
    .requiredOption('--account <id>', 'account id', accountIdArgument)
    .option(...SCRATCH_OPTION)
    .option(...JSON_OPTION)
    .action((options: ListOptions) => withScratch(options, (open) => list(options, open(), io)));
}

interface ListOptions extends JsonOption, ScratchOption {
  readonly account: number;
}

function list({ account, json }: ListOptions, scratch: Scratch, io: CommandIo): Promise<void> {
  const config = io.config();
  const topics = topicsOf(config.paymentTopics, config.topicPrefix);
  return withBackbone(config, async ({ broker, store }) => {
    const deliveries = await deliveriesOf(account, deliveryTopics(broker, topics), scratch);
    const now = Date.now();
    let isEmpty = true;
    for (const delivery of deliveries) {
      isEmpty = false;
      const shown = { ...delivery, ...shownWait(delivery, now) };
      await io.print(json ? JSON.stringify(shown) : line(shown));
    }
    if (isEmpty) await assertRegistered(store, account);
  });
}

function line(delivery: Omit<DeliveryView, keyof ShownWait> & ShownWait): string {
  const { id, eventId, webhookId, outcome, attempts, nextAttemptAt, waitingFor } = delivery;
  const last = attempts.at(-1);
  const answer = last ? whyOf(last) : 'no attempt';
  const next = nextAttemptAt ? `  next ${nextAttemptAt}` : waitingFor ? `  waits: ${waitingFor}` : '';
  return `${last?.at ?? '-'.repeat(24)}  ${id}  event ${eventId}  webhook ${webhookId}  ${outcome}  ${attempts.length} x, ${answer}${next}`;
}
