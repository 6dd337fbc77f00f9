import type { HandleCommand } from '../../webhooks/handle-command.js';
import { bodyCheck } from '../body.js';
import { type Operation, type Route, refusal, route, TOO_MUCH } from '../operation.js';
import { callerOf, commandContext } from '../request-context.js';
import { SUCCESS } from '../shared-schemas.js';
import {
  ENDPOINT_FIELDS,
  type EndpointParts,
  type GivenEndpoint,
  sealedEndpoint,
} from '../webhooks/endpoint-fields.js';
import { mustBeAccepted } from '../webhooks/webhook-command.js';

const setNoticesSchema = {
  title: 'NoticeTarget',
  description: 'The URL to send the notices of the account to.',
  type: 'object',
  required: ['url'],
  properties: ENDPOINT_FIELDS,
} as const;

const SET_NOTICES: Operation = {
  id: 'setNotices',
  method: 'put',
  path: '/api/notices',
  tag: 'Notices',
  summary: 'Set where notices go',
  description:
    'Sets the URL that gets the notices of the account, and replaces the one before. Notices are signed, sent and retried like payment events. A webhook that has the same URL causes none: use a URL on another host, so that a notice arrives when the webhooks do not.',
  security: 'bearer',
  right: 'configure',
  rateLimit: 'writes',
  body: { type: 'json', schema: setNoticesSchema },
  responses: {
    200: { description: 'Notices go to the URL. Also returned if they already did.', schema: SUCCESS },
    400: refusal('A field is not valid, or the webhooks of the account would exceed 1 MiB in total.'),
    404: refusal('The account is not registered.'),
    429: TOO_MUCH,
  },
};

export interface SetNoticesParts extends EndpointParts {
  readonly handleCommand: HandleCommand;
  readonly now: () => Date;
}

const checked = bodyCheck<GivenEndpoint>(setNoticesSchema);

export function setNotices(parts: SetNoticesParts): Route {
  return route(SET_NOTICES, async (ctx) => {
    const body = checked(ctx.request.body);
    const { accountId, actor } = callerOf(ctx);
    const target = sealedEndpoint(parts, accountId, body);
    const command = { type: 'SetNotices', ...target, at: parts.now().toISOString() } as const;
    mustBeAccepted(await parts.handleCommand(accountId, command, commandContext(ctx, actor)));
    ctx.body = { success: true, message: 'notices go to the URL' };
  });
}
