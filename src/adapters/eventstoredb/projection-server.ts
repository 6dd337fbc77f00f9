/** Server-side projections of EventStoreDB. A source that does not compile must not get here: see the hazard in put. */
import {
  BACKWARDS,
  END,
  ErrorType,
  type EventStoreDBClient,
  type ResolvedEvent,
  type StreamingRead,
} from '@eventstore/db-client';
import { StoreRefused } from '../../ports/event-store.js';
import {
  type Folding,
  ProjectionMissing,
  type ProjectionServer,
  ProjectionsOff,
  type ServerProjectionStatus,
} from '../../ports/projection-server.js';
import { withinTime } from '../common/time-limit.js';
import { unavailable } from './store-errors.js';

const LIMIT_MS = 10_000;
/** What projections of a category read is linked by this one. */
const BY_CATEGORY = '$by_category';
const UPDATED = '$ProjectionUpdated';
/** Of the stream that has a projection's updates; little else stands there. */
const LOOK_BACK = 20;
const ENDED = /stopped|fault|aborted|completed/i;

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
      if (says(error, 'NotFound')) return 'no-categories';
      if (isUntyped(error)) return 'off';
      throw unavailable(error);
    }
  }

  /**
   * Hazard: the server takes a source that does not compile; then the status throws and listing fails for everybody. A
   * name that was deleted and made again with outputState faults: so it is never deleted, only updated.
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
      const { status, stateReason: reason, progress, position } = await withinTime(LIMIT_MS, asked);
      return { status, reason, progress, position };
    } catch (error) {
      const failure = await this.#failure(name, error);
      if (failure instanceof ProjectionMissing) return null;
      // The server has no status for it: it answers about the others.
      if (!isUntyped(error) || failure instanceof ProjectionsOff) throw failure;
      return { status: 'Faulted', reason: 'its source does not compile', progress: -1, position: '' };
    }
  }

  /** In the last update of a stream of the system, which takes a right that a user of the service need not have. */
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

  /** A server without projections has no word for it either: only that it fails for those of its own as well tells. */
  async #failure(name: string, error: unknown): Promise<Error> {
    if (says(error, 'NotFound')) return new ProjectionMissing(name);
    if (says(error, 'NotAuthorized')) {
      const says = 'the user of EVENT_STORE_URL may not change projections: this requires $ops or $admins';
      return new StoreRefused(says, { cause: error });
    }
    const isOff = isUntyped(error) && (await this.folding()) === 'off';
    return isOff ? new ProjectionsOff(error) : unavailable(error);
  }
}

/** All of them are read, few as they are: a read that is left has to be seen off. */
async function lastQuery(updates: StreamingRead<ResolvedEvent>): Promise<string | null> {
  let last: string | null = null;
  for await (const { event } of updates) {
    const { query } = (event?.type === UPDATED ? event.data : {}) as { readonly query?: unknown };
    if (typeof query === 'string') last ??= query;
  }
  return last;
}

/** It has no codes for these: an UnknownError whose message has the word. */
function says(error: unknown, word: string): boolean {
  return error instanceof Error && error.message.includes(word);
}

/** An error of no kind, and not that of a server that starts. */
function isUntyped(error: unknown): boolean {
  return hasType(error, ErrorType.UNKNOWN) && !/not ?ready/i.test((error as Error).message);
}

function hasType(error: unknown, type: ErrorType): boolean {
  return (error as { readonly type?: unknown } | null)?.type === type;
}
