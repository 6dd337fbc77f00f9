/**
 * Handles a command: load the account with everything in the store, decide, and append with the revision that the
 * decision was based on. If another process appended first, load and decide again; commands of this process take turns
 * (account-command-queue.ts). This enforces the limit of 3 under concurrency, across any number of processes. The events apply
 * at once in this process, so nobody waits for the subscription.
 *
 * A command may carry an Idempotency-Key. The account was loaded with the keys of all its events, and the append
 * carries the revision, so of all processes that receive one key exactly one makes an event of it.
 *
 * Appends that may be refused are charged to the account's budget (account-buckets.ts); a replayed response appends nothing.
 */
import type { Tracing } from '../observability/tracing.js';
import { type EventStore, type NewEvent, WrongExpectedRevision } from '../ports/event-store.js';
import { bytesOf, type HistoryBudget } from './account-buckets.js';
import type { AccountCommandQueue, CommandSlot } from './account-command-queue.js';
import { accountCharacters, type Command, type Decision, decide, isReconfiguring } from './decide.js';
import {
  type CommandContext,
  enveloped,
  KEY_COUNTS_MS,
  type KeyUse,
  type NewEventId,
  type RequestKey,
  requesterIn,
  withKey,
} from './envelope.js';
import { type AccountEvent, accountStream } from './events.js';
import { type AccountCredentials, type AccountWebhooks, NO_ACCOUNT } from './state.js';

interface LoadedAccount {
  readonly accountId: number;
  /** Null if the account was never registered. */
  readonly webhooks: AccountWebhooks | null;
  readonly credentials: AccountCredentials | null;
  /** NO_STREAM if there is no stream. */
  readonly revision: number;
  /** The effect of an idempotency key in this account, for at least as long as a key is valid. */
  keyUse(key: string): KeyUse | null;
  /** Shows events appended after the load here. @param revision of the last one @returns the webhooks after them */
  append(events: readonly NewEvent[], revision: number): AccountWebhooks;
}

/** Up to date with the store. @throws StoreUnavailable, OtherHistory, ReadModelBehind */
export type LoadAccount = (accountId: number) => Promise<LoadedAccount>;

export interface CommandParts {
  readonly store: Pick<EventStore, 'append'>;
  readonly load: LoadAccount;
  /** Shared by all handlers of a process. */
  readonly queue: AccountCommandQueue;
  readonly newEventId: NewEventId;
  readonly budget: HistoryBudget;
  readonly tracing: Pick<Tracing, 'begin'> | null;
  /** ms since the epoch. */
  readonly time: () => number;
}

/** The command was acceptable, but the account has added too much to its history; nothing was appended. */
export interface OverBudget {
  readonly kind: 'over-budget';
  readonly retryAfterMs: number;
}

type HandledCommand = Decision | OverBudget;

/**
 * @throws StoreUnavailable: the command's result is unknown, and repeating it is safe; CommandQueueFull; the errors of
 * LoadAccount
 */
export type HandleCommand = (accountId: number, command: Command, context: CommandContext) => Promise<HandledCommand>;

/** replayed: the key's request was already handled. idempotency-key-used: the key belongs to another request. */
export type KeyedDecision =
  | HandledCommand
  | { readonly kind: 'replayed'; readonly use: KeyUse }
  | { readonly kind: 'idempotency-key-used' };

/**
 * @param key null: the request has none
 * @param prepare makes the command; not called if the key has a response already
 * @throws the errors of HandleCommand, and of `prepare`: then nothing was appended
 */
export type HandleKeyedCommand = (
  accountId: number,
  key: RequestKey | null,
  prepare: () => Promise<Command>,
  context: CommandContext,
) => Promise<KeyedDecision>;

export function createCommandHandler(parts: CommandParts): HandleCommand {
  return (accountId, command, context) => {
    const by = SENDERS[command.type] === 'service' ? null : requesterIn(accountId, context);
    const work = async ({ changed }: CommandSlot) =>
      decideOn(parts, await parts.load(accountId), command, { context, key: null, changed });
    return parts.queue.run(accountId, work, by);
  };
}

export function createKeyedCommandHandler(parts: CommandParts): HandleKeyedCommand {
  return async (accountId, key, prepare, context) => {
    let command = key ? null : await prepare();
    const work = async ({ changed }: CommandSlot) => {
      const account = await parts.load(accountId);
      const before = key && caused(account, key, parts.time());
      if (before) return before;
      command ??= await prepare();
      return decideOn(parts, account, command, { context, key, changed });
    };
    return parts.queue.run(accountId, work, requesterIn(accountId, context));
  };
}

/** Of an account's own commands, those that only take something away are accepted whatever its budget is. */
const SENDERS: Readonly<Record<Command['type'], 'account' | 'account, always accepted' | 'service'>> = {
  RegisterWebhook: 'account',
  RegisterWebhooks: 'account',
  MoveWebhooks: 'account',
  UpdateWebhook: 'account',
  RemoveWebhook: 'account, always accepted',
  StartRecovery: 'account',
  StopRecovery: 'account, always accepted',
  SetNotices: 'account',
  RemoveNotices: 'account, always accepted',
  DeactivateWebhook: 'service',
  NoteEndpointFailing: 'service',
  AnnounceDeactivation: 'service',
  NoteEndpointRecovered: 'service',
  DeactivateFailingEndpoint: 'service',
  FinishRecovery: 'service',
};

function mayBeRefused(command: Command): boolean {
  if (command.type === 'UpdateWebhook') return command.isActive !== false || isReconfiguring(command);
  return SENDERS[command.type] === 'account';
}

function caused(account: LoadedAccount, key: RequestKey, now: number): KeyedDecision | null {
  const use = account.keyUse(key.key);
  if (!use || now - use.at >= KEY_COUNTS_MS) return null;
  return key.isOf(use.request) ? { kind: 'replayed', use } : { kind: 'idempotency-key-used' };
}

interface Given {
  readonly context: CommandContext;
  readonly key: RequestKey | null;
  readonly changed: CommandSlot['changed'];
}

/** Null if the stream had moved on. */
async function decideOn(
  parts: CommandParts,
  account: LoadedAccount,
  command: Command,
  { context, key, changed }: Given,
): Promise<HandledCommand | null> {
  const decision = decide(account.webhooks ?? NO_ACCOUNT, command);
  const caused = eventsOf(decision, key);
  if (caused.length === 0) return decision;
  const events = keyed(enveloped(caused, context, parts.newEventId), decision, key, parts.time());
  const how = { context, mayBeRefused: mayBeRefused(command) };
  const appended = await appendPaid(parts, account, events, how);
  if (appended === null || 'kind' in appended) return appended;
  changed(accountCharacters(appended));
  return decision;
}

/** A key that changed nothing is stored too: later requests with it get this response. */
function eventsOf(decision: Decision, key: RequestKey | null): readonly AccountEvent[] {
  if (decision.kind !== 'accepted') return [];
  const { events, unchanged } = decision;
  return key && unchanged ? [{ type: 'IdempotencyKeyUsed', data: unchanged }] : events;
}

function keyed(events: readonly NewEvent[], decision: Decision, key: RequestKey | null, at: number) {
  if (!key || decision.kind !== 'accepted' || !decision.registered) return events;
  return withKey(events, { key: key.key, request: key.request, at, webhooks: decision.registered });
}

interface Appending extends Pick<Given, 'context'> {
  readonly mayBeRefused: boolean;
}

/** Refunds the charge if nothing was appended. @returns the webhooks afterwards; null if the stream had moved on */
export async function appendPaid(
  parts: CommandParts,
  account: LoadedAccount,
  events: readonly NewEvent[],
  { context, mayBeRefused }: Appending,
): Promise<AccountWebhooks | OverBudget | null> {
  const { budget } = parts;
  const { accountId } = account;
  const bytes = mayBeRefused ? bytesOf(events) : 0;
  const requester = requesterIn(accountId, context);
  // An overdrawn budget has not even room for 0 bytes.
  const retryAfterMs = mayBeRefused ? budget.take(requester, bytes) : 0;
  if (retryAfterMs > 0) return { kind: 'over-budget', retryAfterMs };
  let revision: number | null = null;
  try {
    revision = await append(parts, account, events, context);
  } finally {
    if (revision === null) budget.giveBack(requester, bytes);
  }
  return revision === null ? null : account.append(events, revision);
}

/** The last event's revision; null if the stream had moved on. */
async function append(
  { store, tracing }: CommandParts,
  { accountId, revision }: LoadedAccount,
  events: readonly NewEvent[],
  { trace = null }: CommandContext,
): Promise<number | null> {
  const stream = accountStream(accountId);
  const attributes = { 'db.operation.name': 'append', 'db.collection.name': stream };
  const span = tracing?.begin({ name: 'append', kind: 'client', parent: trace, attributes });
  try {
    const appended = await store.append(stream, events, revision);
    span?.end(null);
    return appended.revision;
  } catch (error) {
    span?.end((error as Error).name);
    if (error instanceof WrongExpectedRevision) return null;
    throw error;
  }
}
