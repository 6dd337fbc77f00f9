/**
 * A command's way: load the state with all that the store has, decide, append with the revision the decision was made on;
 * where another process came first, load and decide again; commands of this one take turns (account-turns.ts). That is what makes the limit of 3 hold under concurrency, over
 * any number of processes. The events count at once in this process, so nobody waits for the subscription.
 *
 * A command may bring an Idempotency-Key. Its state was loaded with the keys of all its events, and the append carries the
 * revision, so of all processes that are given one key exactly one makes an event of it.
 *
 * What is appended is charged to the account's budget (history-budget.ts); a replayed answer appends nothing.
 */
import type { Tracing } from '../observability/tracing.js';
import { type EventStore, type NewEvent, WrongExpectedRevision } from '../ports/event-store.js';
import type { AccountTurns, Turn } from './account-turns.js';
import { accountCharacters, type Command, type Decision, decide } from './decide.js';
import { accountEvent, type CommandContext, enveloped, type NewEventId } from './envelope.js';
import { type AccountEvent, accountStream } from './events.js';
import { bytesOf, type HistoryBudget } from './history-budget.js';
import { KEY_COUNTS_MS, type KeyUse, keyUseOf, type RequestKey, withKey } from './key-use.js';
import type { LoadAccount, LoadedAccount } from './load-account.js';
import { evolve, NO_ACCOUNT } from './state.js';

export interface CommandParts {
  readonly store: Pick<EventStore, 'append'>;
  readonly load: LoadAccount;
  /** One for all handlers of a process. */
  readonly turns: AccountTurns;
  readonly newEventId: NewEventId;
  readonly budget: HistoryBudget;
  readonly tracing: Pick<Tracing, 'append'>;
  /** ms since the epoch. */
  readonly time: () => number;
}

/** over-budget: it would have been accepted, and the account has added too much to its history; nothing was appended. */
export type HandledCommand = Decision | { readonly kind: 'over-budget'; readonly retryAfterMs: number };

/** @throws StoreUnavailable: then the command is in doubt, and giving it again is safe; TooManyWaiting; what LoadAccount throws */
export type HandleCommand = (accountId: number, command: Command, context: CommandContext) => Promise<HandledCommand>;

/** replayed: the key's request was done before. key-taken: the key belongs to another request. */
export type KeyedDecision =
  | HandledCommand
  | { readonly kind: 'replayed'; readonly use: KeyUse }
  | { readonly kind: 'key-taken' };

/**
 * @param key null: the request has none
 * @param prepare makes the command; not asked where the key has an answer already
 * @throws what HandleCommand throws, and what `prepare` throws: nothing was appended then
 */
export type HandleKeyedCommand = (
  accountId: number,
  key: RequestKey | null,
  prepare: () => Promise<Command>,
  context: CommandContext,
) => Promise<KeyedDecision>;

export function createCommandHandler(parts: CommandParts): HandleCommand {
  return (accountId, command, context) => {
    const work = async ({ changed }: Turn) => {
      for (;;) {
        const account = await parts.load(accountId);
        const decided = await decideOn(parts, accountId, account, { command, context, key: null, changed });
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
    case 'SetWebhookActive':
    case 'RemoveWebhook':
      return 'account';
    case 'DeactivateWebhook':
    case 'NoteEndpointFailing':
    case 'NoteEndpointRecovered':
    case 'DeactivateFailingEndpoint':
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
}

/** Null where the stream had moved on. */
async function decideOn(
  parts: CommandParts,
  accountId: number,
  account: LoadedAccount,
  { command, context, key, changed }: Given,
): Promise<HandledCommand | null> {
  const before = account.webhooks ?? NO_ACCOUNT;
  const decision = decide(before, command);
  const caused = eventsOf(decision, key);
  if (caused.length === 0) return decision;
  const plain = enveloped(caused, context, parts.newEventId);
  const events = key ? withKey(plain, key, parts.time()) : plain;
  const bytes = bytesOf(events);
  const paid = taken(parts.budget, accountId, command, bytes);
  if (paid.retryAfterMs > 0) return { kind: 'over-budget', retryAfterMs: paid.retryAfterMs };
  const on = { revision: account.revision, context, bytes: paid.bytes };
  const revision = await appendOrGiveBack(parts, accountId, events, on);
  if (revision === null) return null;
  const webhooks = events.reduce((state, event) => evolve(state, accountEvent(event)), before);
  changed(accountCharacters(webhooks));
  const keys = events.flatMap((event) => keyUseOf(event) ?? []);
  account.applied(webhooks, { revision, eventId: events.at(-1)?.id ?? '' }, keys);
  return decision;
}

/** A key that changed nothing is kept all the same: what comes with it later gets this answer. */
function eventsOf(decision: Decision, key: RequestKey | null): readonly AccountEvent[] {
  if (decision.kind !== 'accepted') return [];
  const { events, unchanged } = decision;
  return key && unchanged ? [{ type: 'IdempotencyKeyUsed', data: unchanged }] : events;
}

interface Paid {
  /** 0, or until the account may give the command. */
  readonly retryAfterMs: number;
  /** How many were taken. */
  readonly bytes: number;
}

function taken(budget: HistoryBudget, accountId: number, command: Command, bytes: number): Paid {
  if (mayBeRefused(command)) return { retryAfterMs: budget.take(accountId, bytes), bytes };
  return { retryAfterMs: 0, bytes: budget.charge(accountId, bytes) };
}

/** What removes or switches off is always accepted, and so is what the service itself notes of an endpoint. */
function mayBeRefused(command: Command): boolean {
  return command.type === 'RegisterWebhook' || (command.type === 'SetWebhookActive' && command.isActive);
}

/** What was not appended costs nothing. @returns what `append` does */
async function appendOrGiveBack(
  parts: CommandParts,
  accountId: number,
  events: readonly NewEvent[],
  { bytes, ...on }: { revision: number; context: CommandContext; bytes: number },
): Promise<number | null> {
  let revision: number | null = null;
  try {
    revision = await append(parts, accountStream(accountId), events, on);
    return revision;
  } finally {
    if (revision === null) parts.budget.giveBack(accountId, bytes);
  }
}

/** The revision of the last event; null where the stream had moved on. */
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
