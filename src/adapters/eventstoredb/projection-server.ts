/** Server-side projections of EventStoreDB. Never pass a source that does not compile: see the hazard in put. */
import type { EventStoreDBClient, ResolvedEvent, StreamingRead } from '@eventstore/db-client';
import { BACKWARDS, END, ErrorType } from '@eventstore/db-client';
import { StoreRefused } from '../../ports/event-store.js';
import type { Folding, ProjectionServer, ServerProjectionStatus } from '../../ports/projection-server.js';
import { ProjectionMissing, ProjectionsOff } from '../../ports/projection-server.js';
import { withinTime } from '../common/time-limit.js';
import { unavailable } from './store-errors.js';

const LIMIT_MS = 10_000;
/** The system projection that links events for category projections. */
const BY_CATEGORY = '$by_category';
const UPDATED = '$ProjectionUpdated';
/** Of the stream with a projection's updates, which contains little else. */
const LOOK_BACK = 20;
const ENDED = /stopped|fault|aborted|completed/i;
const NOT_AUTHORIZED = 'the user of EVENT_STORE_URL may not change projections: this requires $ops or $admins';

export class EventStoreDbProjections implements ProjectionServer {
  readonly #client: EventStoreDBClient;

  constructor(client: EventStoreDBClient) {
    this.#client = client;
  }

  async folding(): Promise<Folding> {
    try {
      const { status } = await withinTime(LIMIT_MS, this.#client.getProjectionStatus(BY_CATEGORY));
      return ENDED.test(status) ? 'no-categories' : 'on';
    } catch (error) {
      if (isMissing(error)) return 'no-categories';
      if (isUntyped(error)) return 'off';
      throw unavailable(error);
    }
  }

  /**
   * Hazard: the server accepts a source that does not compile; before 24.10 the status call then throws, and listing
   * fails for all users. A deleted and recreated name with outputState faults: so a projection is only updated.
   */
  async put(name: string, source: string): Promise<'created' | 'updated'> {
    try {
      await withinTime(LIMIT_MS, this.#client.createProjection(name, source));
      return 'created';
    } catch (error) {
      if (!says(error, 'Conflict')) throw await this.#failure(name, error);
    }
    await this.#asked(name, this.#client.updateProjection(name, source));
    return 'updated';
  }

  async status(name: string): Promise<ServerProjectionStatus | null> {
    try {
      const asked = this.#client.getProjectionStatus(name);
      const { status, stateReason, progress, position } = await withinTime(LIMIT_MS, asked);
      const reason = stateReason.replace(/\s+/g, ' ').trim();
      return { status, reason, progress: progress < 0 ? null : progress, position };
    } catch (error) {
      const failure = await this.#failure(name, error);
      if (failure instanceof ProjectionMissing) return null;
      // Before 24.10 the server has no status for it: it answers about the others.
      if (!isUntyped(error) || failure instanceof ProjectionsOff) throw failure;
      return { status: 'Faulted', reason: 'its source does not compile', progress: null, position: '' };
    }
  }

  /** From the last update in a system stream, which needs a permission that a user of the service may lack. */
  async runningSource(name: string): Promise<string | null> {
    const options = { direction: BACKWARDS, fromRevision: END, maxCount: LOOK_BACK } as const;
    const updates = this.#client.readStream(`$projections-${name}`, options);
    try {
      return await withinTime(LIMIT_MS, lastQuery(updates));
    } catch (error) {
      if (hasType(error, ErrorType.ACCESS_DENIED) || hasType(error, ErrorType.STREAM_NOT_FOUND)) return null;
      throw unavailable(error);
    }
  }

  stop(name: string): Promise<void> {
    return this.#asked(name, this.#client.disableProjection(name));
  }

  start(name: string): Promise<void> {
    return this.#asked(name, this.#client.enableProjection(name));
  }

  reset(name: string): Promise<void> {
    return this.#asked(name, this.#client.resetProjection(name));
  }

  state(name: string, stream: string): Promise<unknown> {
    return this.#asked(name, this.#client.getProjectionState(name, { partition: stream }));
  }

  async #asked<T>(name: string, call: Promise<T>): Promise<T> {
    try {
      return await withinTime(LIMIT_MS, call);
    } catch (error) {
      throw await this.#failure(name, error);
    }
  }

  /** A server without projections has no error code for that: the sign is that calls for its system ones fail too. */
  async #failure(name: string, error: unknown): Promise<Error> {
    if (isMissing(error)) return new ProjectionMissing(name);
    if (says(error, 'NotAuthorized')) return new StoreRefused(NOT_AUTHORIZED, { cause: error });
    const isOff = isUntyped(error) && (await this.folding()) === 'off';
    return isOff ? new ProjectionsOff(error) : unavailable(error);
  }
}

/** Reads all of the few events: a read left early needs draining. */
async function lastQuery(updates: StreamingRead<ResolvedEvent>): Promise<string | null> {
  let last: string | null = null;
  for await (const { event } of updates) {
    const { query } = (event?.type === UPDATED ? event.data : {}) as { readonly query?: unknown };
    if (typeof query === 'string') last ??= query;
  }
  return last;
}

const hasType = (error: unknown, type: ErrorType) => (error as { type?: unknown } | null)?.type === type;
/** The server has no codes for these errors: it sends an UnknownError whose message contains the word. */
const says = (error: unknown, word: string) => error instanceof Error && error.message.includes(word);
/** From 24.10 on by its type; before, by the message. */
const isMissing = (error: unknown) => hasType(error, ErrorType.NOT_FOUND) || says(error, 'NotFound');
/** Not of a server that starts. */
const isUntyped = (error: unknown) =>
  hasType(error, ErrorType.UNKNOWN) && !/not ?ready/i.test((error as Error).message);
