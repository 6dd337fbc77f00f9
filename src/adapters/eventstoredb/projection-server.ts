/** Server-side projections of EventStoreDB. A source that does not compile must not get here: see the hazard in put. */
import type { EventStoreDBClient } from '@eventstore/db-client';
import {
  ProjectionMissing,
  type ProjectionServer,
  type ServerProjectionStatus,
} from '../../ports/projection-server.js';
import { withinTime } from '../common/time-limit.js';
import { unavailable } from './store-errors.js';

const LIMIT_MS = 10_000;

export class EventStoreDbProjections implements ProjectionServer {
  readonly #client: EventStoreDBClient;

  constructor(client: EventStoreDBClient) {
    this.#client = client;
  }

  /**
   * Hazard: the server takes a source that does not compile; then the status throws and listing fails for everybody. A
   * name that was deleted and made again with outputState faults: so it is never deleted, only updated.
   */
  async put(name: string, source: string): Promise<'created' | 'updated'> {
    try {
      await this.#limited(this.#client.createProjection(name, source));
      return 'created';
    } catch (error) {
      if (!says(error, 'Conflict')) throw unavailable(error);
    }
    await this.#asked(name, this.#client.updateProjection(name, source));
    return 'updated';
  }

  async status(name: string): Promise<ServerProjectionStatus | null> {
    try {
      const { projectionStatus, status, stateReason, progress } = await this.#limited(
        this.#client.getProjectionStatus(name),
      );
      return { status: status || projectionStatus, reason: stateReason, progress };
    } catch (error) {
      if (says(error, 'NotFound')) return null;
      throw unavailable(error);
    }
  }

  reset(name: string): Promise<void> {
    return this.#asked(name, this.#client.resetProjection(name));
  }

  state(name: string, stream: string): Promise<unknown> {
    return this.#asked(name, this.#client.getProjectionState(name, { partition: stream }));
  }

  #limited<T>(call: Promise<T>): Promise<T> {
    return withinTime(LIMIT_MS, call);
  }

  async #asked<T>(name: string, call: Promise<T>): Promise<T> {
    try {
      return await this.#limited(call);
    } catch (error) {
      throw says(error, 'NotFound') ? new ProjectionMissing(name) : unavailable(error);
    }
  }
}

/** It has no codes for these: an UnknownError whose message has the word. */
function says(error: unknown, word: string): boolean {
  return error instanceof Error && error.message.includes(word);
}
