/** /api/notices: where the account gets its notices. */
import { object, optional, orNull, url } from '../schema.js';
import { registered } from './api-error.js';
import { write } from './operation.js';
import { read } from './read-answer.js';
import { headersOf, SUCCESS } from './shared-schemas.js';
import { commanded } from './webhooks/webhook-command.js';
import { ENDPOINT_FIELDS, openedHeaders, sealedEndpoint, valuesFor } from './webhooks/webhook-fields.js';

export const showNotices = read({
  id: 'showNotices',
  path: '/api/notices',
  description: 'Shows the URL that is told when a webhook fails, recovers or is deactivated.',
  returns: object('NoticeSettings', 'Where the account gets its notices.', {
    url: orNull(url('The URL, exactly as it was set. Null: none is set.')),
    headers: headersOf('notice'),
  }),
}).answer(async ({ accounts, sealing }, { accountId, ctx }) => {
  const found = registered(await accounts.webhooks(accountId));
  const { url: target = null, headers = [] } = found.notices ?? {};
  return () => ({ url: target, headers: openedHeaders(accountId, headers, valuesFor(ctx, sealing)) });
});

const TARGET = object('NoticeTarget', 'The URL to send the notices of the account to.', {
  url: ENDPOINT_FIELDS.url,
  headers: optional(ENDPOINT_FIELDS.headers),
});

export const setNotices = write({
  id: 'setNotices',
  method: 'put',
  path: '/api/notices',
  description:
    'Sets the URL that gets the notices of the account, and replaces the one before. Notices are signed, sent and retried like payment events. A webhook that has the same URL causes none: use a URL on another host, so that a notice arrives when the webhooks do not.',
  body: { type: 'json', schema: TARGET },
  returns: SUCCESS,
}).answer(async (parts, asked) => {
  const target = sealedEndpoint(parts, asked.accountId, asked.body);
  await commanded(parts, asked, { type: 'SetNotices', ...target, at: asked.at });
  return { success: true, message: 'notices go to the URL' };
});

export const removeNotices = write({
  id: 'removeNotices',
  method: 'delete',
  path: '/api/notices',
  usesReserve: true,
  description:
    'Removes the notice URL. Notices that wait for their next attempt are not sent either. Succeeds also if there is none.',
  returns: SUCCESS,
}).answer(async (parts, asked) => {
  await commanded(parts, asked, { type: 'RemoveNotices', at: asked.at });
  return { success: true, message: 'no notices are sent' };
});
