/**
 * Handles every command in one loop: load, decide, append at the revision that was loaded; on a conflict, load again. So a
 * decision holds across any number of processes: the limit of 3, one event per Idempotency-Key, one use of a code.
 *
 * In a service, an account is loaded with everything in the store, and the idempotency keys of all its events. Commands on
 * one account take turns (account-command-queue.ts), and appends that may be rejected are charged to its budget
 * (account-buckets.ts). The command line appends to a stream without a state (accounts/registration.ts).
 */
import type { Requester } from '../limits/user-limits.js';
import type { Tracing } from '../observability/tracing.js';
import { type EventStore, type NewEvent, NO_STREAM, WrongExpectedRevision } from '../ports/event-store.js';
import { bytesOf, isOfService, mayBeRejected } from './account-buckets.js';
import type { CommandSlot } from './account-command-queue.js';
import type { AppendEvents, AppendResult, CommandDeps, Conflict, LoadedAccount } from './command-deps.js';
import { accountCharacters, type Command, type Decision, decide } from './decide.js';
import {
  type CommandContext,
  envelopeDecision,
  findKeyEffect,
  type KeyEffect,
  type RequestKey,
  requesterIn,
} from './envelope.js';
import { accountStream } from './events.js';
import { NO_ACCOUNT } from './state.js';

/** `end`: the command has its result without an append. */
export type Verdict<Result> = AppendVerdict<Result> | { readonly kind: 'end'; readonly result: Result };

interface AppendVerdict<Result> {
  readonly kind: 'append';
  readonly events: readonly NewEvent[];
  /** Whether the account's budget is charged, and may reject the append. */
  readonly isCharged: boolean;
  /** Of the command, once the events are in the store. */
  readonly result: Result;
}

interface Rejected<Result> {
  readonly kind: 'rejected';
  readonly result: Result;
}

export interface CommandSteps<Loaded, Result> {
  /** @param conflict of the last append; null at first */
  load(conflict: Conflict | null): Promise<Loaded>;
  /** Called again after each conflict. Only the loop appends. */
  decide(loaded: Loaded): Verdict<Result> | Promise<Verdict<Result>>;
  append(loaded: Loaded, verdict: AppendVerdict<Result>): Promise<AppendResult | Rejected<Result>>;
}

/** @throws the errors of the steps */
export async function runCommand<Loaded, Result>(steps: CommandSteps<Loaded, Result>): Promise<Result> {
  let conflict: Conflict | null = null;
  for (;;) {
    const loaded = await steps.load(conflict);
    const verdict = await steps.decide(loaded);
    if (verdict.kind === 'end') return verdict.result;
    const appended = await steps.append(loaded, verdict);
    switch (appended.kind) {
      case 'appended':
        return verdict.result;
      case 'rejected':
        return appended.result;
      case 'conflict':
        conflict = appended;
        break;
      default:
        return appended satisfies never;
    }
  }
}

interface AppendDeps {
  readonly store: Pick<EventStore, 'append'>;
  readonly tracing: Pick<Tracing, 'begin'> | null;
}

export function createAppend({ store, tracing }: AppendDeps): AppendEvents {
  return async ({ stream, events, revision, trace = null }) => {
    const attributes = { 'db.operation.name': 'append', 'db.collection.name': stream };
    const span = tracing?.begin({ name: 'append', kind: 'client', parent: trace, attributes });
    try {
      const appended = await store.append(stream, events, revision);
      span?.end(null);
      return { kind: 'appended', revision: appended.revision };
    } catch (error) {
      span?.end((error as Error).name);
      if (error instanceof WrongExpectedRevision) return { kind: 'conflict', revision: error.actual };
      throw error;
    }
  };
}

/** The command was acceptable, but the account has added too much to its history; nothing was appended. */
export interface OverBudget {
  readonly kind: 'over-budget';
  readonly retryAfterMs: number;
}

/** A command on an account of a service. */
export interface AccountCommand<Result> {
  readonly accountId: number;
  readonly context: CommandContext;
  /** Null: the service itself, which is exempt from the limit on queued commands. */
  readonly requester: Requester | null;
  /** Whether the account's next command waits in proportion to the size of the account's webhooks. */
  readonly isFollowedByPause: boolean;
  decide(account: LoadedAccount): Verdict<Result> | Promise<Verdict<Result>>;
}

/**
 * @throws StoreUnavailable: the command's result is unknown, and repeating it is safe; CommandQueueFull; the errors of
 * CommandAccounts.load and of `decide`
 */
export function handleAccountCommand<Result>(
  deps: CommandDeps,
  command: AccountCommand<Result>,
): Promise<Result | OverBudget> {
  const work = (slot: CommandSlot) =>
    runCommand<LoadedAccount, Result | OverBudget>({
      load: () => deps.accounts.load(command.accountId),
      decide: (account) => command.decide(account),
      async append(account, verdict) {
        const appended = await appendWithinBudget(deps, command.context, account, verdict);
        if (appended.kind !== 'appended') return appended;
        const state = deps.accounts.show(account, verdict.events, appended.revision);
        if (command.isFollowedByPause) slot.changed(accountCharacters(state['account-webhooks']));
        return appended;
      },
    });
  return deps.queue.run(command.accountId, work, command.requester);
}

/** Refunds the charge if nothing was appended. */
async function appendWithinBudget(
  { append, budget }: CommandDeps,
  context: CommandContext,
  { accountId, folded }: LoadedAccount,
  { events, isCharged }: AppendVerdict<unknown>,
): Promise<AppendResult | Rejected<OverBudget>> {
  const bytes = isCharged ? bytesOf(events) : 0;
  const requester = requesterIn(accountId, context);
  // An overdrawn budget has not even room for 0 bytes.
  const retryAfterMs = isCharged ? budget.take(requester, bytes) : 0;
  if (retryAfterMs > 0) return { kind: 'rejected', result: { kind: 'over-budget', retryAfterMs } };
  const [stream, revision] = [accountStream(accountId), folded?.revision ?? NO_STREAM];
  let isAppended = false;
  try {
    const appended = await append({ stream, events, revision, trace: context.trace });
    isAppended = appended.kind === 'appended';
    return appended;
  } finally {
    if (!isAppended) budget.giveBack(requester, bytes);
  }
}

type HandledCommand = Decision | OverBudget;

/** @throws the errors of handleAccountCommand */
export type HandleCommand = (accountId: number, command: Command, context: CommandContext) => Promise<HandledCommand>;

export function createCommandHandler(deps: CommandDeps): HandleCommand {
  return (accountId, command, context) =>
    handleAccountCommand<Decision>(deps, {
      accountId,
      context,
      requester: isOfService(command) ? null : requesterIn(accountId, context),
      isFollowedByPause: true,
      decide: (account) => decideOn(deps, account, command, { context, key: null }),
    });
}

export type KeyedDecision = HandledCommand | KeyEffect;

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

export function createKeyedCommandHandler(deps: CommandDeps): HandleKeyedCommand {
  return async (accountId, key, prepare, context) => {
    let command = key ? null : await prepare();
    return handleAccountCommand<Decision | KeyEffect>(deps, {
      accountId,
      context,
      requester: requesterIn(accountId, context),
      isFollowedByPause: true,
      async decide(account) {
        const effect = key && findKeyEffect(deps.accounts.keyUse(accountId, key.key), key, deps.time());
        if (effect) return { kind: 'end', result: effect };
        command ??= await prepare();
        return decideOn(deps, account, command, { context, key });
      },
    });
  };
}

function decideOn(
  { newEventId, time }: CommandDeps,
  { folded }: LoadedAccount,
  command: Command,
  request: { readonly context: CommandContext; readonly key: RequestKey | null },
): Verdict<Decision> {
  const decision = decide(folded?.state['account-webhooks'] ?? NO_ACCOUNT, command);
  const events = envelopeDecision(decision, { ...request, newEventId, at: time() });
  if (events.length === 0) return { kind: 'end', result: decision };
  return { kind: 'append', events, isCharged: mayBeRejected(command), result: decision };
}
