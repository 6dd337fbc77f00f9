/** GET /api/webhooks: the account's webhooks, including inactive ones, in order of creation; now, or as of a point in time. */
import type { EventStore } from '../../ports/event-store.js';
import { configurationAt } from '../../read-model/account-log.js';
import { count, list, object, whole } from '../../schema.js';
import type { Sealing } from '../../secrets/sealing.js';
import type { AccountWebhooks, Webhook } from '../../webhooks/state.js';
import { sendJson } from '../admission.js';
import { registered } from '../api-error.js';
import type { ApiParts } from '../api-parts.js';
import { route } from '../operation.js';
import { parseQuery, readQuery, timeQuery } from '../query.js';
import { READ } from '../read-answer.js';
import { callerOf, isLong } from '../request-context.js';
import { shownWebhook, valuesFor, WEBHOOK } from './webhook-fields.js';

const QUERY = {
  at: timeQuery(
    'The list as it was at this time (ISO 8601); the future is now. It is empty for a time before the registration of the account. A value of a header that the service can no longer decrypt, since its key was replaced, is shown as empty.',
  ),
};

const LIST_WEBHOOKS = {
  ...READ,
  id: 'listWebhooks',
  path: '/api/webhooks',
  description: 'Lists all webhooks of the account, active or not, as created. With `at`: as they were then.',
  query: QUERY,
  returns: object('WebhookList', 'The webhooks of the account.', {
    accountId: whole('The account that the token belongs to.'),
    webhooks: list('All webhooks, active or not, in the order of their creation.', WEBHOOK),
    total: count('The number of webhooks in the list.'),
  }),
} as const;

export function listWebhooks({ accounts, sealing, store, admission }: ApiParts) {
  // Each state is serialised once, with values: a changed state is a new object.
  const answers = new WeakMap<AccountWebhooks, string>();
  return route(LIST_WEBHOOKS, async (ctx) => {
    const { accountId } = callerOf(ctx);
    const at = ctx.querystring === '' ? null : readQuery(QUERY, parseQuery(ctx)).at;
    const found = registered(await accounts.webhooks(accountId));
    const values = valuesFor(ctx, sealing);
    const known = values === sealing ? answers.get(found) : undefined;
    if (at === null && known !== undefined && !isLong(known.length)) return sendJson(ctx, known);
    await admission.during(ctx, async (place, requester) => {
      if (at !== null) {
        const read: EventStore['read'] = (stream) => place.paced(store.read(stream));
        const webhooks = (await configurationAt({ read }, accountId, at)) ?? [];
        const then = () => answer(accountId, webhooks, valuesFor(ctx, openable(sealing)));
        return place.send(ctx, admission.timed(requester, then));
      }
      const body = admission.timed(requester, () => known ?? answer(accountId, found.webhooks, values));
      if (values === sealing) answers.set(found, body);
      place.send(ctx, body);
    });
  });
}

/** The past may hold values of a key that is gone: the list of today can't, or the service would not have started. */
function openable({ open, hasKeyOf }: Sealing): Pick<Sealing, 'open'> {
  return { open: (sealed, place) => (hasKeyOf(sealed) ? open(sealed, place) : '') };
}

function answer(accountId: number, given: readonly Webhook[], sealing: Pick<Sealing, 'open'>): string {
  const webhooks = given.map((webhook) => shownWebhook(accountId, webhook, sealing));
  return JSON.stringify({ accountId, webhooks, total: webhooks.length });
}
