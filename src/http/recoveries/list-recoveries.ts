/** GET /api/recoveries: the last recovery of each webhook. */
import type { Context } from 'koa';
import type { AskView } from '../../ports/deliveries-view.js';
import type { Accounts } from '../../read-model/accounts.js';
import type { Recovery } from '../../webhooks/state.js';
import { accountNotFound } from '../api-error.js';
import { type Operation, refusal } from '../operation.js';
import { answerRead } from '../read-answer.js';
import type { Reading } from '../webhooks/list-webhooks.js';
import { RECOVERY_SCHEMA, shownRecovery } from './shown-recovery.js';
import { UNAVAILABLE } from './start-recovery.js';

export const listOperation: Operation = {
  id: 'listRecoveries',
  method: 'get',
  path: '/api/recoveries',
  tag: 'Deliveries',
  summary: 'List the recoveries',
  description:
    'The last recovery of each webhook, with its progress: those that run first, then the others, newest first.',
  security: 'bearer',
  rateLimit: 'reads',
  responses: {
    200: {
      description: 'The recoveries.',
      schema: {
        title: 'RecoveryList',
        description: 'The last recovery of each webhook.',
        type: 'object',
        required: ['recoveries'],
        properties: { recoveries: { type: 'array', description: 'The recoveries.', items: RECOVERY_SCHEMA } },
      },
    },
    404: refusal('The account is not registered.'),
    503: UNAVAILABLE,
  },
};

export function listRecoveries(accounts: Pick<Accounts, 'webhooks'>, view: AskView, reading: Reading) {
  const { reads } = reading;
  return (ctx: Context): Promise<void> =>
    answerRead(ctx, reading, async (accountId) => {
      const found = await accounts.webhooks(accountId);
      if (!found) throw accountNotFound();
      const recoveries: ReturnType<typeof shownRecovery>[] = [];
      for (const recovery of found.recoveries.toSorted(inOrder)) {
        recoveries.push(reads.timed(accountId, () => shownRecovery(accountId, recovery, view)));
        // To count the deliveries of one may take long; others come in between.
        await reads.turn(accountId);
      }
      return () => ({ recoveries });
    });
}

function inOrder(one: Recovery, other: Recovery): number {
  const isRunning = ({ state }: Recovery) => Number(state === 'running');
  return isRunning(other) - isRunning(one) || (one.startedAt < other.startedAt ? 1 : -1);
}
