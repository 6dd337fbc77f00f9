/**
 * How long each endpoint has accepted nothing, and the commands to its account that follow.
 *
 *   taking -> failing (known to this process) -> noted (an event) -> its webhooks are deactivated (events that say why)
 *      ^-------------- a success --------------------/
 *
 * `noted` is durable: it survives a restart, and a success in any process of the installation ends it. Commands are given on
 * changes only, after the delivery; a command that fails is given again with the next attempt.
 */
import { LRUCache } from 'lru-cache';
import type { Logger } from '../../observability/logger.js';
import type { Accounts } from '../../read-model/accounts.js';
import type { EndpointCommand } from '../../webhooks/decide-endpoint.js';
import type { HandleCommand, HandledCommand } from '../../webhooks/handle-command.js';
import type { Delivery } from '../delivery.js';
import { type EndpointKey, endpointKey } from './endpoint-key.js';

/** An endpoint is noted once it has failed for a fifth of DEACTIVATE_AFTER, or for this long, whichever is less. */
const NOTE_AFTER_MS = 3_600_000;
const REMEMBERED = 10_000;

export interface EndpointHealthParts {
  readonly accounts: Pick<Accounts, 'failingSince'>;
  readonly handleCommand: HandleCommand;
  readonly logger: Logger;
  /** ms since the epoch */
  readonly now: () => number;
  /** How long an endpoint may fail before its webhooks are deactivated; 0: without limit. */
  readonly deactivateAfterMs: number;
}

/** A delivery's attempt and its endpoint. */
export interface Attempted {
  readonly delivery: Pick<Delivery, 'id' | 'accountId' | 'webhookId'>;
  readonly endpoint: string;
}

interface Failing {
  /** The first failure after the last success, ms since the epoch. */
  readonly since: number;
  readonly noted: boolean;
}

export class EndpointHealth {
  readonly #parts: EndpointHealthParts;
  readonly #noteAfterMs: number;
  /** Failing endpoints, the most recent ones. */
  readonly #failing = new LRUCache<EndpointKey, Failing>({ max: REMEMBERED });
  /** Endpoints with a command in progress, and whether they accepted a delivery meanwhile. */
  readonly #underWay = new Map<EndpointKey, { recovered: boolean }>();

  constructor(parts: EndpointHealthParts) {
    this.#parts = parts;
    this.#noteAfterMs = Math.min(NOTE_AFTER_MS, parts.deactivateAfterMs / 5);
  }

  /** Returns at once. */
  succeeded(attempted: Attempted): void {
    const key = keyOf(attempted);
    this.#failing.delete(key);
    const underWay = this.#underWay.get(key);
    if (underWay) underWay.recovered = true;
    else if (this.#notedSince(attempted) !== undefined) this.#recover(attempted);
  }

  /** Returns at once. */
  failed(attempted: Attempted): void {
    if (this.#parts.deactivateAfterMs === 0) return;
    const notedSince = this.#notedSince(attempted);
    const command =
      notedSince === undefined ? this.#mayNote(attempted) : this.#mayDeactivate(attempted, Date.parse(notedSince));
    if (command) void this.#give(command, attempted);
  }

  #notedSince({ delivery, endpoint }: Attempted): string | undefined {
    return this.#parts.accounts.failingSince(delivery.accountId, endpoint);
  }

  #mayNote(attempted: Attempted): EndpointCommand | null {
    const now = this.#parts.now();
    const since = this.#since(keyOf(attempted), now);
    if (now - since < this.#noteAfterMs) return null;
    // Hazard: other processes may have delivered meanwhile. So an earlier failure counts for this long at most.
    const counted = Math.max(since, now - this.#noteAfterMs);
    const { endpoint } = attempted;
    return { type: 'NoteEndpointFailing', endpoint, since: isoTime(counted), at: isoTime(now) };
  }

  /** If it was noted and no longer is, it recovered in another process or was reconfigured: failing begins now. */
  #since(key: EndpointKey, now: number): number {
    const known = this.#failing.get(key);
    if (known && !known.noted) return known.since;
    this.#failing.set(key, { since: now, noted: false });
    return now;
  }

  #mayDeactivate(attempted: Attempted, since: number): EndpointCommand | null {
    const { now, deactivateAfterMs: afterMs } = this.#parts;
    this.#failing.set(keyOf(attempted), { since, noted: true });
    if (now() - since < afterMs) return null;
    return { type: 'DeactivateFailingEndpoint', endpoint: attempted.endpoint, afterMs, at: isoTime(now()) };
  }

  #recover(attempted: Attempted): void {
    const at = isoTime(this.#parts.now());
    void this.#give({ type: 'NoteEndpointRecovered', endpoint: attempted.endpoint, at }, attempted);
  }

  /** One at a time for an endpoint; never rejects. */
  async #give(command: EndpointCommand, attempted: Attempted): Promise<void> {
    const { id, accountId } = attempted.delivery;
    const key = keyOf(attempted);
    if (this.#underWay.has(key)) return;
    const underWay = { recovered: false };
    this.#underWay.set(key, underWay);
    try {
      const context = { actor: 'dispatcher', requestId: id, correlationId: id };
      this.#given(command, attempted, await this.#parts.handleCommand(accountId, command, context));
    } catch (error) {
      const about = { err: error, ...aboutOf(attempted), command: command.type };
      this.#parts.logger.error(about, 'how an endpoint fares could not be noted; the next attempt tries again');
    }
    this.#underWay.delete(key);
    if (underWay.recovered && command.type !== 'NoteEndpointRecovered') this.#recover(attempted);
  }

  #given(command: EndpointCommand, attempted: Attempted, decision: HandledCommand): void {
    const happened = decision.kind === 'accepted' && decision.events.length > 0;
    const key = keyOf(attempted);
    const known = this.#failing.get(key);
    if (command.type === 'NoteEndpointFailing' && known) this.#failing.set(key, { ...known, noted: true });
    if (command.type === 'DeactivateFailingEndpoint' && happened) {
      this.#parts.logger.warn(
        aboutOf(attempted),
        'an endpoint took nothing for too long: its webhooks are deactivated',
      );
    }
  }
}

function aboutOf({ delivery: { id, accountId, webhookId } }: Attempted) {
  return { deliveryId: id, accountId, webhookId };
}

function keyOf({ delivery, endpoint }: Attempted): EndpointKey {
  return endpointKey(delivery.accountId, endpoint);
}

function isoTime(ms: number): string {
  return new Date(ms).toISOString();
}
