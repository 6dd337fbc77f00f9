import type { AskView } from '../../ports/deliveries-view.js';
import type { Accounts } from '../../read-model/accounts.js';
import type { Recovery } from '../../webhooks/state.js';
import { accountNotFound } from '../api-error.js';
import { type Operation, READ, type Route, refusal } from '../operation.js';
import { type Reading, readRoute } from '../read-answer.js';
import { RECOVERY_SCHEMA, shownRecovery } from './shown-recovery.js';
import { UNAVAILABLE } from './start-recovery.js';

const LIST_RECOVERIES: Operation = {
  id: 'listRecoveries',
  ...READ,
  path: '/api/recoveries',
  tag: 'Deliveries',
  summary: 'List the recoveries',
  description:
    'The last recovery of each webhook, with its progress: those that run first, then the others, newest first.',
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

export function listRecoveries(accounts: Pick<Accounts, 'webhooks'>, view: AskView, reading: Reading): Route {
  const { reads } = reading;
  return readRoute(LIST_RECOVERIES, reading, async (accountId) => {
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
