import type { Accounts } from '../../read-model/accounts.js';
import type { Sealing } from '../../secrets/sealing.js';
import { accountNotFound } from '../api-error.js';
import { type Operation, READ, type Route, refusal } from '../operation.js';
import { type Reading, readRoute } from '../read-answer.js';
import { openedHeaders, valuesFor } from '../webhooks/shown-webhook.js';

const noticesSchema = {
  title: 'NoticeSettings',
  description: 'Where the account gets its notices.',
  type: 'object',
  required: ['url', 'headers'],
  properties: {
    url: { type: ['string', 'null'], format: 'uri', description: 'The URL, exactly as it was set. Null: none is set.' },
    headers: {
      type: 'object',
      additionalProperties: { type: 'string' },
      description:
        'The headers that are sent with each notice, by name. Empty if there are none. A session without the right `configure` gets each value as an empty text.',
    },
  },
} as const;

const SHOW_NOTICES: Operation = {
  id: 'showNotices',
  ...READ,
  path: '/api/notices',
  tag: 'Notices',
  summary: 'Show where notices go',
  description:
    'Shows the URL that gets the notices of the account: that a webhook is failing, has recovered, or was deactivated by the service.',
  responses: {
    200: { description: 'The notice URL, or null.', schema: noticesSchema },
    404: refusal('The account is not registered.'),
  },
};

export function showNotices(accounts: Pick<Accounts, 'webhooks'>, sealing: Sealing, reading: Reading): Route {
  return readRoute(SHOW_NOTICES, reading, async (accountId, ctx) => {
    const found = await accounts.webhooks(accountId);
    if (!found) throw accountNotFound();
    const { url = null, headers = [] } = found.notices ?? {};
    return () => ({ url, headers: openedHeaders(accountId, headers, valuesFor(ctx, sealing)) });
  });
}
