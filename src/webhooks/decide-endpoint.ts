/**
 * Decides what an endpoint's state of health means for its account. Pure.
 *
 *   working -> failing (noted) -> working again (recovered)
 *                              -> the deactivation is announced
 *                              -> all its webhooks are deactivated, once it has failed for long enough
 */
import type { LastFailure, WebhookEvent } from './events.js';
import type { AccountWebhooks, FailingEndpoint } from './state.js';

interface NoteEndpointFailing {
  readonly type: 'NoteEndpointFailing';
  readonly endpoint: string;
  /** ISO 8601: the first failure after the last success. */
  readonly since: string;
  readonly deactivatesAt: string | null;
  readonly lastFailure: LastFailure;
  readonly at: string;
}

interface AnnounceDeactivation {
  readonly type: 'AnnounceDeactivation';
  readonly endpoint: string;
  readonly deactivatesAt: string;
  readonly lastFailure: LastFailure;
  readonly at: string;
}

interface NoteEndpointRecovered {
  readonly type: 'NoteEndpointRecovered';
  readonly endpoint: string;
  readonly at: string;
}

interface DeactivateFailingEndpoint {
  readonly type: 'DeactivateFailingEndpoint';
  readonly endpoint: string;
  /** Required time since the noted first failure, ms. */
  readonly afterMs: number;
  readonly lastFailure: LastFailure;
  readonly at: string;
}

export type EndpointCommand =
  | NoteEndpointFailing
  | AnnounceDeactivation
  | NoteEndpointRecovered
  | DeactivateFailingEndpoint;

export function decideEndpoint(state: AccountWebhooks, command: EndpointCommand): WebhookEvent[] {
  const { endpoint, at } = command;
  const noted = state.failing.find((failing) => failing.endpoint === endpoint);
  switch (command.type) {
    case 'NoteEndpointFailing': {
      if (noted || active(state, endpoint).length === 0) return [];
      const { since, deactivatesAt, lastFailure } = command;
      return [{ type: 'EndpointFailing', data: { endpoint, since, deactivatesAt, lastFailure, notedAt: at } }];
    }
    case 'AnnounceDeactivation': {
      if (!noted || noted.deactivatesAt !== undefined || active(state, endpoint).length === 0) return [];
      const { deactivatesAt, lastFailure } = command;
      const data = { endpoint, since: noted.since, deactivatesAt, lastFailure, announcedAt: at };
      return [{ type: 'DeactivationAnnounced', data }];
    }
    case 'NoteEndpointRecovered':
      return noted ? [{ type: 'EndpointRecovered', data: { endpoint, since: noted.since, recoveredAt: at } }] : [];
    case 'DeactivateFailingEndpoint':
      return noted && mayDeactivate(noted, command) ? deactivated(state, noted.since, command) : [];
    default:
      return command satisfies never;
  }
}

function deactivated(
  state: AccountWebhooks,
  since: string,
  { endpoint, lastFailure, at }: DeactivateFailingEndpoint,
): WebhookEvent[] {
  const reason = `nothing was delivered since ${since}`;
  return active(state, endpoint).map(({ id: webhookId }) => ({
    type: 'WebhookDeactivated',
    data: { webhookId, reason, by: 'service', since, lastFailure, deactivatedAt: at },
  }));
}

/** Its account was told, and had the time that it was told. */
function mayDeactivate(noted: FailingEndpoint, { at, afterMs }: DeactivateFailingEndpoint): boolean {
  const { since, deactivatesAt } = noted;
  if (deactivatesAt === undefined) return false;
  return Date.parse(at) >= Math.max(Date.parse(since) + afterMs, Date.parse(deactivatesAt));
}

function active(state: AccountWebhooks, endpoint: string) {
  return state.webhooks.filter((webhook) => webhook.isActive && webhook.endpoint === endpoint);
}
