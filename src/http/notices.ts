/** /api/notices: where the account gets its notices. */
import { registered } from './api-error.js';
import type { ApiParts } from './api-parts.js';
import { bodyCheck } from './body.js';
import { read, route, write } from './operation.js';
import { readRoute } from './read-answer.js';
import { callerOf } from './request-context.js';
import { object, optional, orNull, url } from './schema.js';
import { headersOf, SUCCESS } from './shared-schemas.js';
import { commanded } from './webhooks/webhook-command.js';
import { ENDPOINT_FIELDS, openedHeaders, sealedEndpoint, valuesFor } from './webhooks/webhook-fields.js';

const SHOW_NOTICES = read({
  id: 'showNotices',
  path: '/api/notices',
  summary: 'Show where notices go',
  description: 'Shows the URL that is told when a webhook fails, recovers or is deactivated.',
  responses: {
    200: object('NoticeSettings', 'Where the account gets its notices.', {
      url: orNull(url('The URL, exactly as it was set. Null: none is set.')),
      headers: headersOf('notice'),
    }),
  },
});

export function showNotices({ accounts, sealing, admission }: ApiParts) {
  return readRoute(SHOW_NOTICES, admission, async (accountId, ctx) => {
    const found = registered(await accounts.webhooks(accountId));
    const { url: target = null, headers = [] } = found.notices ?? {};
    return () => ({ url: target, headers: openedHeaders(accountId, headers, valuesFor(ctx, sealing)) });
  });
}

const TARGET = object('NoticeTarget', 'The URL to send the notices of the account to.', {
  url: ENDPOINT_FIELDS.url,
  headers: optional(ENDPOINT_FIELDS.headers),
});

const SET_NOTICES = write({
  id: 'setNotices',
  method: 'put',
  path: '/api/notices',
  summary: 'Set where notices go',
  description:
    'Sets the URL that gets the notices of the account, and replaces the one before. Notices are signed, sent and retried like payment events. A webhook that has the same URL causes none: use a URL on another host, so that a notice arrives when the webhooks do not.',
  right: 'configure',
  body: { type: 'json', schema: TARGET },
  responses: {
    200: { description: 'Notices go to the URL. Also returned if they already did.', schema: SUCCESS },
    400: 'A field is not valid, or the webhooks of the account would exceed 1 MiB in total.',
  },
});

const checked = bodyCheck(TARGET);

export function setNotices(parts: ApiParts) {
  return route(SET_NOTICES, async (ctx) => {
    const body = checked(ctx.request.body);
    const { accountId } = callerOf(ctx);
    const target = sealedEndpoint(parts, accountId, body);
    await commanded(ctx, parts, { type: 'SetNotices', ...target, at: parts.now().toISOString() });
    ctx.body = { success: true, message: 'notices go to the URL' };
  });
}

const REMOVE_NOTICES = write({
  id: 'removeNotices',
  method: 'delete',
  path: '/api/notices',
  summary: 'Send no more notices',
  description: 'Removes the notice URL. Notices that wait for their next attempt are not sent either.',
  right: 'configure',
  responses: {
    200: { description: 'The account has no notice URL. Also returned if it had none.', schema: SUCCESS },
  },
});

export function removeNotices(parts: ApiParts) {
  return route(REMOVE_NOTICES, async (ctx) => {
    await commanded(ctx, parts, { type: 'RemoveNotices', at: parts.now().toISOString() });
    ctx.body = { success: true, message: 'no notices are sent' };
  });
}
