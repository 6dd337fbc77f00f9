/**
 * Handles a command: load the account with everything in the store, decide, and append with the revision that the
 * decision was based on. If another process appended first, load and decide again; commands of this process take turns
 * (account-turns.ts). This enforces the limit of 3 under concurrency, across any number of processes. The events apply
 * at once in this process, so nobody waits for the subscription.
 *
 * A command may carry an Idempotency-Key. The account was loaded with the keys of all its events, and the append
 * carries the revision, so of all processes that receive one key exactly one makes an event of it.
 *
 * Appends are charged to the account's budget (account-buckets.ts); a replayed response appends nothing.
 */
import type { Tracing } from '../observability/tracing.js';
import { type EventStore, type NewEvent, WrongExpectedRevision } from '../ports/event-store.js';
import { bytesOf, type HistoryBudget } from './account-buckets.js';
import type { AccountTurns, Turn } from './account-turns.js';
import { accountCharacters, type Command, type Decision, decide, isReconfiguring } from './decide.js';
import {
  type CommandContext,
  enveloped,
  KEY_COUNTS_MS,
  type KeyUse,
  type NewEventId,
  type RequestKey,
  withKey,
} from './envelope.js';
import { type AccountEvent, accountStream } from './events.js';
import { type AccountWebhooks, NO_ACCOUNT } from './state.js';

interface LoadedAccount {
  /** Null if the account was never registered. */
  readonly webhooks: AccountWebhooks | null;
  /** NO_STREAM if there is no stream. */
  readonly revision: number;
  /** The effect of an idempotency key in this account, for at least as long as a key is valid. */
  keyUse(key: string): KeyUse | null;
  /**
   * Makes events that were appended right after the load visible in this process.
   * @param revision of the last one
   * @returns the webhooks after them
   */
  append(events: readonly NewEvent[], revision: number): AccountWebhooks;
}

/** Up to date with the store. @throws StoreUnavailable, OtherHistory, ReadModelBehind */
export type LoadAccount = (accountId: number) => Promise<LoadedAccount>;

export interface CommandParts {
  readonly store: Pick<EventStore, 'append'>;
  readonly load: LoadAccount;
  /** Shared by all handlers of a process. */
  readonly turns: AccountTurns;
  readonly newEventId: NewEventId;
  readonly budget: HistoryBudget;
  readonly tracing: Pick<Tracing, 'append'>;
  /** ms since the epoch. */
  readonly time: () => number;
}

/** over-budget: the command was acceptable, but the account has added too much to its history; nothing was appended. */
export type HandledCommand = Decision | { readonly kind: 'over-budget'; readonly retryAfterMs: number };

/**
 * @param beforeAppend done once the command is accepted and paid for, before its events are appended; where it rejects, nothing
 * is appended
 * @throws StoreUnavailable: the command's result is unknown, and repeating it is safe; TooManyWaiting; the errors of
 * LoadAccount, and of `beforeAppend`
 */
export type HandleCommand = (
  accountId: number,
  command: Command,
  context: CommandContext,
  beforeAppend?: () => Promise<void>,
) => Promise<HandledCommand>;

/** replayed: the key's request was already handled. key-taken: the key belongs to another request. */
export type KeyedDecision =
  | HandledCommand
  | { readonly kind: 'replayed'; readonly use: KeyUse }
  | { readonly kind: 'key-taken' };

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
  return (accountId, command, context, beforeAppend) => {
    const work = async ({ changed }: Turn) => {
      for (;;) {
        const account = await parts.load(accountId);
        const given = { command, context, key: null, changed, beforeAppend };
        const decided = await decideOn(parts, accountId, account, given);
        if (decided) return decided;
      }
    };
    return parts.turns.take(accountId, work, giverOf(command));
  };
}

export function createKeyedCommandHandler(parts: CommandParts): HandleKeyedCommand {
  return async (accountId, key, prepare, context) => {
    let command = key ? null : await prepare();
    return parts.turns.take(accountId, async ({ changed }) => {
      for (;;) {
        const account = await parts.load(accountId);
        const before = key && caused(account, key, parts.time());
        if (before) return before;
        command ??= await prepare();
        const decided = await decideOn(parts, accountId, account, { command, context, key, changed });
        if (decided) return decided;
      }
    });
  };
}

function giverOf({ type }: Command): 'account' | 'service' {
  switch (type) {
    case 'RegisterWebhook':
    case 'UpdateWebhook':
    case 'RemoveWebhook':
    case 'StartRecovery':
    case 'StopRecovery':
    case 'SetNotices':
    case 'RemoveNotices':
      return 'account';
    case 'DeactivateWebhook':
    case 'NoteEndpointFailing':
    case 'AnnounceDeactivation':
    case 'NoteEndpointRecovered':
    case 'DeactivateFailingEndpoint':
    case 'FinishRecovery':
      return 'service';
    default:
      return type satisfies never;
  }
}

function caused(account: LoadedAccount, key: RequestKey, now: number): KeyedDecision | null {
  const use = account.keyUse(key.key);
  if (!use || now - use.at >= KEY_COUNTS_MS) return null;
  return key.isOf(use.request) ? { kind: 'replayed', use } : { kind: 'key-taken' };
}

interface Given {
  readonly command: Command;
  readonly context: CommandContext;
  readonly key: RequestKey | null;
  readonly changed: Turn['changed'];
  readonly beforeAppend?: (() => Promise<void>) | undefined;
}

/** Null if the stream had moved on. */
async function decideOn(
  parts: CommandParts,
  accountId: number,
  account: LoadedAccount,
  { command, context, key, changed, beforeAppend }: Given,
): Promise<HandledCommand | null> {
  const decision = decide(account.webhooks ?? NO_ACCOUNT, command);
  const caused = eventsOf(decision, key);
  if (caused.length === 0) return decision;
  const plain = enveloped(caused, context, parts.newEventId);
  const events = keyed(plain, decision, key, parts.time());
  const bytes = bytesOf(events);
  const paid = taken(parts.budget, accountId, command, bytes);
  if (paid.retryAfterMs > 0) return { kind: 'over-budget', retryAfterMs: paid.retryAfterMs };
  const on = { revision: account.revision, context, bytes: paid.bytes, beforeAppend };
  const revision = await appendOrGiveBack(parts, accountId, events, on);
  if (revision === null) return null;
  changed(accountCharacters(account.append(events, revision)));
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
  return withKey(events, { key: key.key, request: key.request, at, webhook: decision.registered });
}

interface Paid {
  /** 0, or ms until the account may send the command. */
  readonly retryAfterMs: number;
  /** How many were taken. */
  readonly bytes: number;
}

function taken(budget: HistoryBudget, accountId: number, command: Command, bytes: number): Paid {
  if (mayBeRefused(command)) return { retryAfterMs: budget.take(accountId, bytes), bytes };
  return { retryAfterMs: 0, bytes: budget.charge(accountId, bytes) };
}

/** Removals and deactivations are always accepted, and so are the service's own notes about an endpoint. */
function mayBeRefused(command: Command): boolean {
  if (command.type === 'UpdateWebhook') return command.isActive !== false || isReconfiguring(command);
  return ['RegisterWebhook', 'StartRecovery', 'SetNotices'].includes(command.type);
}

interface Appending {
  readonly revision: number;
  readonly context: CommandContext;
  readonly bytes: number;
  readonly beforeAppend?: Given['beforeAppend'];
}

/** Refunds the budget if nothing was appended. @returns the result of `append` */
export async function appendOrGiveBack(
  parts: CommandParts,
  accountId: number,
  events: readonly NewEvent[],
  { bytes, beforeAppend, ...on }: Appending,
): Promise<number | null> {
  let revision: number | null = null;
  try {
    await beforeAppend?.();
    revision = await append(parts, accountStream(accountId), events, on);
    return revision;
  } finally {
    if (revision === null) parts.budget.giveBack(accountId, bytes);
  }
}

/** The last event's revision; null if the stream had moved on. */
async function append(
  { store, tracing }: CommandParts,
  stream: string,
  events: readonly NewEvent[],
  on: { revision: number; context: CommandContext },
): Promise<number | null> {
  const span = tracing.append(stream, on.context.trace ?? null);
  try {
    const { revision } = await store.append(stream, events, on.revision);
    span?.end(null);
    return revision;
  } catch (error) {
    span?.end((error as Error).name);
    if (error instanceof WrongExpectedRevision) return null;
    throw error;
  }
}
