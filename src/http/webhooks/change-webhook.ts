/**
 * PATCH /api/webhooks/{id} and POST /api/webhooks/move: another URL, other headers, deactivated or active again. What is not given stays. DELETE ends the
 * webhook's deliveries; its history stays.
 */
import { parseUrl } from '../../endpoints/endpoint-url.js';
import { count, countOrNull, described, flag, object, optional, type Static, text } from '../../schema.js';
import { ApiError, badRequest, fieldError, mustBeAccepted } from '../api-error.js';
import { write } from '../operation.js';
import { requesterOf } from '../request-context.js';
import { DONE, SUCCESS } from '../shared-schemas.js';
import { describeHeld } from './held-deliveries.js';
import { deliveryCounts } from './show-webhook.js';
import { commanded, webhookIdOf } from './webhook-command.js';
import { ENDPOINT_FIELDS, sealedChange } from './webhook-fields.js';

const CHANGE = {
  ...object('WebhookChange', 'What is changed of a webhook: at least one field. The others stay as they are.', {
    url: optional(ENDPOINT_FIELDS.url),
    headers: optional(
      described(
        'Headers to send with each event; they replace all headers of the webhook. **If they are not given, those that the webhook has go to the new URL**, whatever its host.',
        ENDPOINT_FIELDS.headers,
      ),
    ),
    isActive: optional(flag('True to send events to the webhook, false to stop sending them.')),
  }),
  anyOf: [{ required: ['url'] }, { required: ['headers'] }, { required: ['isActive'] }],
};

export const updateWebhook = write({
  id: 'updateWebhook',
  method: 'patch',
  path: '/api/webhooks/{id}',
  description:
    'Changes the URL or the headers of a webhook, or activates or deactivates it; succeeds also if nothing changes. All that is given is one change. A webhook with another URL keeps its id: what waits for it goes to the new URL at its next attempt, as does what is sent again or recovered. A webhook stays inactive unless `isActive` is true. An inactive webhook keeps its id, URL and headers, and receives no events. Its waiting deliveries are cancelled when their next attempt is due. A webhook that the service deactivated (410, or no successful delivery for too long) is held instead: its deliveries become dead letters until it is active again, or until its account deactivates it. If deliveries are held for a webhook that is activated, `message` says how many, and how to send them.',
  usesReserve: ({ isActive, ...endpoint }: Static<typeof CHANGE>) =>
    isActive === false && Object.keys(endpoint).length === 0,
  body: { type: 'json', schema: CHANGE },
  returns: SUCCESS,
}).answer(async (parts, asked) => {
  const { isActive, ...endpoint } = asked.body;
  const changed = { ...sealedChange(parts, asked.accountId, endpoint), ...(isActive !== undefined && { isActive }) };
  if (Object.keys(changed).length === 0) throw new ApiError({ code: 'nothing-to-change' });
  const webhookId = webhookIdOf(asked.ctx);
  await commanded(parts, asked, { type: 'UpdateWebhook', webhookId, ...changed, at: asked.at });
  const done = isActive === undefined ? 'updated' : isActive ? 'activated' : 'deactivated';
  const held = isActive ? await describeHeld(parts, requesterOf(asked.ctx), [webhookId]) : '';
  return { success: true, message: `webhook ${done}${held}` };
});

const MOVE = object('WebhookMove', 'The URL to leave, and the one to use instead.', {
  from: text('The URL that webhooks of the account have, in any spelling.'),
  to: ENDPOINT_FIELDS.url,
});

export const moveWebhooks = write({
  id: 'moveWebhooks',
  method: 'post',
  path: '/api/webhooks/move',
  description:
    'Gives all webhooks that have the URL `from`, of any type and also inactive ones, the URL `to`: all of them or, if one is refused, none. Each keeps its id and headers; what waits for it goes to the new URL, as after a change of one webhook.',
  body: { type: 'json', schema: MOVE },
  returns: object('SuccessMoved', 'The response to a command that succeeded.', {
    ...DONE,
    moved: count('How many webhooks were changed. 0 if `to` is the URL that they have.'),
  }),
  refusals: { 404: 'The account is not registered, or no webhook has the URL `from`.' },
}).answer(async ({ checkEndpoint, handleCommand }, { accountId, body, context, at }) => {
  const to = checkEndpoint(body.to);
  if (!to.ok) throw badRequest([fieldError('to', to.problem)]);
  const from = parseUrl(body.from)?.href ?? body.from;
  const command = { type: 'MoveWebhooks', from, url: body.to, endpoint: to.href, at } as const;
  const decision = await handleCommand(accountId, command, context);
  mustBeAccepted(decision.kind === 'url-taken' ? { ...decision, field: 'to' } : decision);
  const moved = decision.kind === 'accepted' ? decision.events.length : 0;
  return { success: true, message: `${moved} ${moved === 1 ? 'webhook' : 'webhooks'} moved`, moved };
});

export const removeWebhook = write({
  id: 'removeWebhook',
  method: 'delete',
  path: '/api/webhooks/{id}',
  usesReserve: true,
  description: 'Removes a webhook from the list, and cancels its waiting deliveries.',
  returns: object('SuccessCancelled', 'The response to a command that succeeded.', {
    ...DONE,
    cancelled: countOrNull(
      'How many deliveries waited for another attempt. New ones that had not been attempted or deferred yet are cancelled too, but not counted. Null while the list of deliveries is rebuilt.',
    ),
  }),
}).answer(async (parts, asked) => {
  const webhookId = webhookIdOf(asked.ctx);
  await commanded(parts, asked, { type: 'RemoveWebhook', webhookId, at: asked.at });
  const counts = await deliveryCounts(parts, requesterOf(asked.ctx), webhookId);
  return { success: true, message: 'webhook removed', cancelled: counts?.waiting ?? null };
});
