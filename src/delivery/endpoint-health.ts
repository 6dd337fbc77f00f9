/**
 * How long each endpoint has accepted nothing, and the commands to its account that follow.
 *
 *   taking -> failing (known to this process) -> noted (an event) -> announced (an event) -> its webhooks are deactivated
 *      ^-------------- a success --------------------/------------------/                    (events that say why)
 *
 * `noted` is durable: it survives a restart, and a success in any process of the installation ends it. Commands are given on
 * changes only, after the delivery; a command that fails is given again with the next attempt. The account is told of
 * the events by notices (notices/notice-writer.ts).
 */
import { LRUCache } from 'lru-cache';
import { shownFailure } from '../endpoints/failure.js';
import type { Logger } from '../observability/logger.js';
import type { Accounts } from '../read-model/accounts.js';
import type { EndpointCommand } from '../webhooks/decide-endpoint.js';
import type { LastFailure } from '../webhooks/events.js';
import type { HandleCommand } from '../webhooks/handle-command.js';
import type { FailingEndpoint } from '../webhooks/state.js';
import type { Delivery } from './delivery.js';
import { type EndpointKey, endpointKey } from './endpoint-key.js';

/** Where DEACTIVATE_AFTER is short, a fifth of it takes the place of each. */
const NOTE_AFTER_MS = 600_000;
const ANNOUNCE_BEFORE_MS = 3_600_000;
const REMEMBERED = 10_000;
const DEACTIVATED = 'an endpoint took nothing for too long: its webhooks are deactivated';

export interface EndpointHealthParts {
  readonly accounts: Pick<Accounts, 'failingEndpoint'>;
  readonly handleCommand: HandleCommand;
  readonly logger: Logger;
  /** ms since the epoch */
  readonly now: () => number;
  /** How long an endpoint may fail before its webhooks are deactivated; 0: without limit. */
  readonly deactivateAfterMs: number;
  /** Failing endpoints. Default: 10,000. */
  readonly remembers?: number;
}

/** `at` in ms since the epoch. */
type Failure = { readonly at: number; readonly status: number | null; readonly error: string | null };
type Attempted = { readonly delivery: Pick<Delivery, 'id' | 'accountId' | 'webhookId'>; readonly endpoint: string };
type FailedAttempt = Attempted & { readonly failure: Failure };

export class EndpointHealth {
  readonly #parts: EndpointHealthParts;
  readonly #noteAfterMs: number;
  readonly #announceBeforeMs: number;
  /**
   * The first failure after the last success, ms since the epoch, of the most recent endpoints. Without those noted: one that
   * no longer is has recovered in another process, or was reconfigured, and failing begins with its next failure.
   */
  readonly #since: LRUCache<EndpointKey, number>;
  /** Endpoints with a command in progress, and whether they accepted something meanwhile: nothing else may come for long. */
  readonly #underWay = new Map<EndpointKey, { recovered: boolean }>();

  constructor(parts: EndpointHealthParts) {
    this.#parts = parts;
    this.#since = new LRUCache({ maxSize: parts.remembers ?? REMEMBERED, sizeCalculation: () => 1 });
    const shortest = parts.deactivateAfterMs === 0 ? Number.POSITIVE_INFINITY : parts.deactivateAfterMs / 5;
    this.#noteAfterMs = Math.min(NOTE_AFTER_MS, shortest);
    this.#announceBeforeMs = Math.min(ANNOUNCE_BEFORE_MS, shortest);
  }

  succeeded(attempted: Attempted): void {
    const key = keyOf(attempted);
    this.#since.delete(key);
    const underWay = this.#underWay.get(key);
    if (underWay) underWay.recovered = true;
    else if (this.#noted(attempted)) this.#recover(attempted);
  }

  #recover(attempted: Attempted): void {
    const at = isoTime(this.#parts.now());
    void this.#give({ type: 'NoteEndpointRecovered', endpoint: attempted.endpoint, at }, attempted);
  }

  failed(attempted: FailedAttempt): void {
    const noted = this.#noted(attempted);
    const command = noted ? this.#afterNoted(attempted, noted) : this.#mayNote(attempted);
    if (command) void this.#give(command, attempted);
  }

  #noted({ delivery, endpoint }: Attempted): FailingEndpoint | undefined {
    return this.#parts.accounts.failingEndpoint(delivery.accountId, endpoint);
  }

  #mayNote(attempted: FailedAttempt): EndpointCommand | null {
    const now = this.#parts.now();
    const key = keyOf(attempted);
    const since = this.#since.get(key) ?? now;
    this.#since.set(key, since);
    if (now - since < this.#noteAfterMs) return null;
    // Hazard: other processes may have delivered meanwhile. So an earlier failure counts for this long at most.
    const counted = Math.max(since, now - this.#noteAfterMs);
    const { deactivateAfterMs: afterMs } = this.#parts;
    const deactivatesAt = afterMs === 0 ? null : isoTime(counted + afterMs);
    return { type: 'NoteEndpointFailing', ...failedAt(attempted, now), since: isoTime(counted), deactivatesAt };
  }

  #afterNoted(attempted: FailedAttempt, noted: FailingEndpoint): EndpointCommand | null {
    const { deactivateAfterMs: afterMs } = this.#parts;
    const now = this.#parts.now();
    const since = Date.parse(noted.since);
    this.#since.delete(keyOf(attempted));
    if (afterMs === 0) return null;
    const command = failedAt(attempted, now);
    const end = since + afterMs;
    if (noted.deactivatesAt !== undefined) {
      const isOver = now >= Math.max(end, Date.parse(noted.deactivatesAt));
      return isOver ? { type: 'DeactivateFailingEndpoint', ...command, afterMs } : null;
    }
    if (end - now > this.#announceBeforeMs) return null;
    // Where nothing was attempted in the last hour, the account is told all the same, and has its hour.
    const deactivatesAt = isoTime(end > now ? end : now + this.#announceBeforeMs);
    return { type: 'AnnounceDeactivation', ...command, deactivatesAt };
  }

  /** One at a time for an endpoint: a failure meanwhile is told by its next attempt. Never rejects. */
  async #give(command: EndpointCommand, attempted: Attempted): Promise<void> {
    const { id, accountId } = attempted.delivery;
    const key = keyOf(attempted);
    if (this.#underWay.has(key)) return;
    const underWay = { recovered: false };
    this.#underWay.set(key, underWay);
    try {
      const context = { actor: 'dispatcher', requestId: id, correlationId: id };
      const decision = await this.#parts.handleCommand(accountId, command, context);
      if (command.type === 'NoteEndpointFailing') this.#since.delete(key);
      const hasHappened = decision.kind === 'accepted' && decision.events.length > 0;
      if (command.type === 'DeactivateFailingEndpoint' && hasHappened)
        this.#parts.logger.warn(logFieldsOf(attempted), DEACTIVATED);
    } catch (error) {
      const logFields = { err: error, ...logFieldsOf(attempted), command: command.type };
      this.#parts.logger.error(logFields, 'how an endpoint fares could not be noted; the next attempt tries again');
    }
    this.#underWay.delete(key);
    if (underWay.recovered && command.type !== 'NoteEndpointRecovered') this.#recover(attempted);
  }
}

function logFieldsOf({ delivery: { id, accountId, webhookId } }: Attempted) {
  return { deliveryId: id, accountId, webhookId };
}

function failedAt({ endpoint, failure }: FailedAttempt, now: number) {
  return { endpoint, lastFailure: lastFailureOf(failure), at: isoTime(now) };
}

/** As the account sees it: the code does not say whether a name resolves. */
export function lastFailureOf({ at, status, error }: Failure): LastFailure {
  return { at: isoTime(at), ...shownFailure({ status, error }) };
}

const keyOf = ({ delivery, endpoint }: Attempted) => endpointKey(delivery.accountId, endpoint);
const isoTime = (ms: number) => new Date(ms).toISOString();
