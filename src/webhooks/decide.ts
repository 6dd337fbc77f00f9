/** Decides a command by the account's state: events, or a refusal. Pure. */
import { decideEndpoint, type EndpointCommand } from './decide-endpoint.js';
import { decideRecovery, type RecoveryCommand, type RecoveryDecision } from './decide-recovery.js';
import type { LastFailure, NoticeTarget, SealedHeader, WebhookConfiguration, WebhookEvent } from './events.js';
import { type EventType, MAX_ACCOUNT_CHARACTERS, MAX_ACTIVE_PER_TYPE, MAX_WEBHOOKS } from './limits.js';
import type { AccountWebhooks, RegisteredWebhook, Webhook } from './state.js';

export interface RegisterWebhook {
  readonly type: 'RegisterWebhook';
  readonly url: string;
  readonly endpoint: string;
  readonly eventType: EventType;
  readonly headers: readonly SealedHeader[];
  /** Whether the stored headers contain exactly the values of `headers`: the same value sealed twice looks different. */
  readonly isHeldBy: (kept: readonly SealedHeader[]) => boolean;
  /** The webhook's id if the URL is new for the type; otherwise unused. */
  readonly newId: number;
  readonly at: string;
}

/** One URL for several types, each once. */
interface RegisterWebhooks {
  readonly type: 'RegisterWebhooks';
  readonly registrations: readonly RegisterWebhook[];
}

/** All webhooks with the endpoint `from` get another URL. */
interface MoveWebhooks extends Pick<RegisterWebhook, 'url' | 'endpoint' | 'at'> {
  readonly type: 'MoveWebhooks';
  readonly from: string;
}

interface DeactivateWebhook {
  readonly type: 'DeactivateWebhook';
  readonly webhookId: number;
  /** The version that the reason applies to: a webhook updated since is left alone. */
  readonly version: number;
  readonly reason: string;
  readonly lastFailure: LastFailure;
  readonly at: string;
}

/** The account's own request: what is absent stays. */
export interface UpdateWebhook extends Partial<Pick<RegisterWebhook, 'url' | 'endpoint' | 'headers' | 'isHeldBy'>> {
  readonly type: 'UpdateWebhook';
  readonly webhookId: number;
  readonly isActive?: boolean;
  readonly at: string;
}

interface RemoveWebhook {
  readonly type: 'RemoveWebhook';
  readonly webhookId: number;
  readonly at: string;
}

interface SetNotices extends NoticeTarget {
  readonly type: 'SetNotices';
  /** As in RegisterWebhook. */
  readonly isHeldBy: (kept: readonly SealedHeader[]) => boolean;
  readonly at: string;
}

interface RemoveNotices {
  readonly type: 'RemoveNotices';
  readonly at: string;
}

export type Command =
  | RegisterWebhook
  | RegisterWebhooks
  | MoveWebhooks
  | DeactivateWebhook
  | UpdateWebhook
  | RemoveWebhook
  | EndpointCommand
  | RecoveryCommand
  | SetNotices
  | RemoveNotices;

export interface WebhookVersion {
  readonly webhookId: number;
  readonly version: number;
}

interface Accepted {
  readonly kind: 'accepted';
  readonly events: readonly WebhookEvent[];
  /** Only of a registration: one for each type, as asked. */
  readonly registered?: readonly RegisteredWebhook[];
  /** Only if a registration found its webhooks as requested: the first. */
  readonly unchanged?: WebhookVersion;
}

interface LimitReached {
  readonly kind: 'limit-reached';
  readonly field: 'eventType' | 'isActive';
  readonly eventType: EventType;
  readonly params: { readonly limit: number };
}

/** The kind of a refusal is its code in the API; `params` and `field` are what its message needs. */
export type Decision =
  | Accepted
  | { readonly kind: 'account-not-found' }
  | { readonly kind: 'webhook-not-found' }
  | { readonly kind: 'url-taken'; readonly field: 'url'; readonly params: { readonly webhookId: number } }
  | LimitReached
  | { readonly kind: 'account-full'; readonly field: 'url'; readonly params: { readonly limit: number } }
  /** The account's webhooks together would exceed the size limit. */
  | { readonly kind: 'account-too-large'; readonly field: 'headers' }
  | Exclude<RecoveryDecision, { kind: 'accepted' }>;

export function decide(state: AccountWebhooks, command: Command): Decision {
  if (state.accountId === null) return { kind: 'account-not-found' };
  switch (command.type) {
    case 'RegisterWebhook':
      return register(state, command);
    case 'RegisterWebhooks':
      return all(state, command.registrations, register);
    case 'MoveWebhooks':
      return move(state, command);
    case 'DeactivateWebhook':
      return deactivate(state, command);
    case 'UpdateWebhook':
      return update(state, command);
    case 'RemoveWebhook':
      return remove(state, command);
    case 'NoteEndpointFailing':
    case 'NoteEndpointRecovered':
    case 'DeactivateFailingEndpoint':
    case 'AnnounceDeactivation':
      return accepted(...decideEndpoint(state, command));
    case 'StartRecovery':
    case 'StopRecovery':
    case 'FinishRecovery':
      return decideRecovery(state, command);
    case 'SetNotices':
      return setNotices(state, command);
    case 'RemoveNotices':
      return state.notices ? accepted({ type: 'NoticesRemoved', data: { removedAt: command.at } }) : accepted();
    default:
      return command satisfies never;
  }
}

function register(state: AccountWebhooks, command: RegisterWebhook): Decision {
  const { eventType, endpoint, newId, at } = command;
  const existing = state.webhooks.find((webhook) => webhook.eventType === eventType && webhook.endpoint === endpoint);
  if (!existing?.isActive && isFull(state, eventType)) return limitReached('eventType', eventType);
  if (!existing && state.webhooks.length >= MAX_WEBHOOKS) {
    return { kind: 'account-full', field: 'url', params: { limit: MAX_WEBHOOKS } };
  }
  if (isTooLarge(state, existing, command)) return { kind: 'account-too-large', field: 'headers' };
  const { id, createdAt } = existing ?? { id: newId, createdAt: at };
  const registered = [{ id, url: command.url, createdAt }];
  if (existing?.isActive && isAsAsked(state, existing, command)) {
    return { kind: 'accepted', events: [], registered, unchanged: { webhookId: id, version: existing.version } };
  }
  return { kind: 'accepted', events: registration(command, existing), registered };
}

/** All or none: the first refusal counts. No two commands are about one type, so each sees of those before only its room. */
function all<C>(
  state: AccountWebhooks,
  commands: readonly C[],
  one: (state: AccountWebhooks, command: C) => Decision,
): Decision {
  const events: WebhookEvent[] = [];
  const registered: RegisteredWebhook[] = [];
  let unchanged: WebhookVersion | undefined;
  for (const command of commands) {
    const decision = one(withRoomTaken(state, events), command);
    if (decision.kind !== 'accepted') return decision;
    events.push(...decision.events);
    registered.push(...(decision.registered ?? []));
    unchanged ??= decision.unchanged;
  }
  return { kind: 'accepted', events, registered, ...(events.length === 0 && unchanged && { unchanged }) };
}

/** The state between two commands: what takes room in the account, and which of it is active. */
export function withRoomTaken(state: AccountWebhooks, events: readonly WebhookEvent[]): AccountWebhooks {
  const taken = events.flatMap(({ type, data }) =>
    type === 'WebhookAdded' || type === 'WebhookUpdated' ? [data] : [],
  );
  const others = state.webhooks.filter(({ id }) => !taken.some(({ webhookId }) => webhookId === id));
  // An update leaves an inactive webhook inactive; a new one is active.
  const isActive = (webhookId: number) =>
    events.some(({ type, data }) => type === 'WebhookActivated' && data.webhookId === webhookId) ||
    (state.webhooks.find(({ id }) => id === webhookId)?.isActive ?? true);
  const changed = taken.map((data) => ({
    ...{ ...data, id: data.webhookId, isActive: isActive(data.webhookId) },
    ...{ createdAt: '', addedBy: '' },
  }));
  return { ...state, webhooks: [...others, ...changed] };
}

function move(state: AccountWebhooks, { from, url, endpoint, at }: MoveWebhooks): Decision {
  const moved = state.webhooks.filter((webhook) => webhook.endpoint === from);
  if (moved.length === 0) return { kind: 'webhook-not-found' };
  const moves = moved.map(({ id: webhookId }) => ({ type: 'UpdateWebhook', webhookId, url, endpoint, at }) as const);
  return all(state, moves, update);
}

function registration(command: RegisterWebhook, existing: Webhook | undefined): readonly WebhookEvent[] {
  const { newId, at } = command;
  if (!existing) return [{ type: 'WebhookAdded', data: { ...configuration(command, newId, 1), createdAt: at } }];
  return [updated(existing, command), ...switched(existing, true, at)];
}

function updated(
  { id, version, url, headers }: Webhook,
  to: Configured & Pick<RegisterWebhook, 'at' | 'isHeldBy'>,
): WebhookEvent {
  const replaced = { url, headers: headers.map(({ key }) => key), headersChanged: !to.isHeldBy(headers) };
  return { type: 'WebhookUpdated', data: { ...configuration(to, id, version + 1), updatedAt: to.at, replaced } };
}

/** An account already above the limit may change its webhooks if that does not enlarge it. */
function isTooLarge(state: AccountWebhooks, existing: Sized | undefined, changed: Sized): boolean {
  const growth = charactersOf(changed) - (existing ? charactersOf(existing) : 0);
  if (growth <= 0) return false;
  return accountCharacters(state) + growth > MAX_ACCOUNT_CHARACTERS;
}

/** The stored size of all webhooks and the notice URL together. */
export function accountCharacters({ webhooks, notices }: AccountWebhooks): number {
  return webhooks.reduce((sum, webhook) => sum + charactersOf(webhook), notices ? charactersOf(notices) : 0);
}

type Sized = Pick<Webhook, 'url' | 'endpoint' | 'headers'>;

/** Counts the parts that the account chose. */
function charactersOf({ url, endpoint, headers }: Sized): number {
  return headers.reduce((sum, { key, sealed }) => sum + key.length + sealed.length, url.length + endpoint.length);
}

/** Registering a webhook of a failing endpoint is a change: from now on the endpoint counts as working. */
function isAsAsked({ failing }: AccountWebhooks, existing: Webhook, asked: Pick<RegisterWebhook, 'url' | 'isHeldBy'>) {
  const isFailing = failing.some(({ endpoint }) => endpoint === existing.endpoint);
  return !isFailing && existing.url === asked.url && asked.isHeldBy(existing.headers);
}

function deactivate(state: AccountWebhooks, command: DeactivateWebhook): Decision {
  const { webhookId, version, reason, lastFailure, at } = command;
  const webhook = state.webhooks.find(({ id }) => id === webhookId);
  if (!webhook?.isActive || webhook.version !== version) return accepted();
  return accepted({
    type: 'WebhookDeactivated',
    data: { webhookId, reason, by: 'service', lastFailure, deactivatedAt: at },
  });
}

function update(state: AccountWebhooks, command: UpdateWebhook): Decision {
  const { webhookId, isActive, at } = command;
  const webhook = state.webhooks.find(({ id }) => id === webhookId);
  if (!webhook) return { kind: 'webhook-not-found' };
  const asked = { ...webhook, isHeldBy: () => true, ...command };
  const taken = state.webhooks.find(
    ({ id, eventType, endpoint }) => id !== webhookId && eventType === webhook.eventType && endpoint === asked.endpoint,
  );
  if (taken) return { kind: 'url-taken', field: 'url', params: { webhookId: taken.id } };
  if (isActive && !webhook.isActive && isFull(state, webhook.eventType)) {
    return limitReached('isActive', webhook.eventType);
  }
  if (isTooLarge(state, webhook, asked)) return { kind: 'account-too-large', field: 'headers' };
  const isKept = !isReconfiguring(command) || isAsAsked(state, webhook, asked);
  return accepted(...(isKept ? [] : [updated(webhook, asked)]), ...switched(webhook, isActive, at));
}

export function isReconfiguring({ url, headers }: UpdateWebhook): boolean {
  return url !== undefined || headers !== undefined;
}

function switched(webhook: Webhook, isActive: boolean | undefined, at: string): WebhookEvent[] {
  const { id: webhookId } = webhook;
  if (isActive === undefined || (isActive ? webhook.isActive : isOffByAccount(webhook))) return [];
  if (isActive) return [{ type: 'WebhookActivated', data: { webhookId, activatedAt: at } }];
  const data = { webhookId, reason: 'deactivated by the account', deactivatedAt: at };
  return [{ type: 'WebhookDeactivated', data }];
}

function isOffByAccount({ isActive, offBy }: Webhook): boolean {
  return !isActive && offBy === undefined;
}

function remove(state: AccountWebhooks, { webhookId, at }: RemoveWebhook): Decision {
  if (!state.webhooks.some(({ id }) => id === webhookId)) return { kind: 'webhook-not-found' };
  return accepted({ type: 'WebhookRemoved', data: { webhookId, removedAt: at } });
}

function setNotices(state: AccountWebhooks, command: SetNotices): Decision {
  const { url, endpoint, headers, isHeldBy, at } = command;
  const { notices } = state;
  if (isTooLarge(state, notices, command)) return { kind: 'account-too-large', field: 'headers' };
  if (notices?.url === url && isHeldBy(notices.headers)) return accepted();
  return accepted({ type: 'NoticesSet', data: { url, endpoint, headers, setAt: at } });
}

function accepted(...events: WebhookEvent[]): Decision {
  return { kind: 'accepted', events };
}

type Configured = Omit<WebhookConfiguration, 'webhookId' | 'version'>;

function configuration(to: Configured, webhookId: number, version: number): WebhookConfiguration {
  const { eventType, url, endpoint, headers } = to;
  return { webhookId, eventType, url, endpoint, headers, version };
}

function isFull(state: AccountWebhooks, eventType: EventType): boolean {
  const active = state.webhooks.filter((webhook) => webhook.isActive && webhook.eventType === eventType);
  return active.length >= MAX_ACTIVE_PER_TYPE;
}

function limitReached(field: LimitReached['field'], eventType: EventType): LimitReached {
  return { kind: 'limit-reached', field, eventType, params: { limit: MAX_ACTIVE_PER_TYPE } };
}
