/** deliveries: the state of payment events, read from the broker's topics; `resend` asks a running service. */
import type { Command } from 'commander';
import { type DeliveryView, deliveriesOf, deliveryTopics } from '../delivery/log/delivery-log.js';
import { whyOf } from '../delivery/next-step.js';
import { type ShownWait, shownWait } from '../ports/shown-wait.js';
import { command, required } from './command.js';
import {
  accountIdArgument,
  assertRegistered,
  type CommandIo,
  SCRATCH_OPTION,
  type ScratchOption,
} from './command-io.js';
import { CLIENT_OPTIONS, type ClientOptions, callOnce } from './service-client.js';

export function deliveriesCommand(program: Command, io: CommandIo): void {
  const deliveries = program.command('deliveries').description('show deliveries, and send them again');
  command<ClientOptions, [id: string]>(deliveries, io, {
    name: 'resend',
    says: 'send a delivery again, through a running service',
    args: [['<id>', 'the webhook-id']],
    options: CLIENT_OPTIONS(),
    run: (running) =>
      callOnce(running, { method: 'POST', path: `/api/deliveries/${encodeURIComponent(running.args[0])}/resend` }),
  });
  command<ScratchOption & { readonly account: number }>(deliveries, io, {
    name: 'list',
    says: "list an account's deliveries with every attempt, newest first",
    options: [required('--account <id>', 'account id', accountIdArgument), SCRATCH_OPTION()],
    async run(running) {
      const { options } = running;
      const { broker, store, topics } = await running.open();
      const scratch = running.scratch(options.scratch);
      const now = Date.now();
      let isEmpty = true;
      for (const delivery of await deliveriesOf(options.account, deliveryTopics(broker, topics), scratch)) {
        isEmpty = false;
        const shown = { ...delivery, ...shownWait(delivery, now) };
        await running.print(shown, line(shown));
      }
      if (isEmpty) await assertRegistered(store, options.account);
    },
  });
}

function line(delivery: Omit<DeliveryView, keyof ShownWait> & ShownWait): string {
  const { id, eventId, webhookId, outcome, attempts, nextAttemptAt, waitingFor } = delivery;
  const last = attempts.at(-1);
  const answer = last ? whyOf(last) : 'no attempt';
  const next = nextAttemptAt ? `  next ${nextAttemptAt}` : waitingFor ? `  waits: ${waitingFor}` : '';
  return `${last?.at ?? '-'.repeat(24)}  ${id}  event ${eventId}  webhook ${webhookId}  ${outcome}  ${attempts.length} x, ${answer}${next}`;
}
