/** Projection hosts over an embedded store and a read model, both in the test's own folder. */
import { randomUUID } from 'node:crypto';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { openProjectionStates } from '../../../src/adapters/sqlite/projection-states.js';
import { type EventStore, NO_STREAM } from '../../../src/ports/event-store.js';
import type { ProjectionStates } from '../../../src/ports/projection-states.js';
import { ProjectionHost, type ProjectionHostParts } from '../../../src/read-model/projection-host.js';
import { combined, loadProjection, PROJECTIONS } from '../../../src/read-model/projection-source.js';
import { enveloped } from '../../../src/webhooks/envelope.js';
import { type AccountEvent, accountStream } from '../../../src/webhooks/events.js';
import type { AccountState } from '../../../src/webhooks/state.js';
import { eventually } from '../clocks/eventually.js';
import { CONTEXT } from '../generators/webhook-samples.js';
import { openSqliteStore } from '../servers/sqlite-store.js';
import { recordingLogger } from './recording-logger.js';
import { temporaryDirectory } from './temporary-directory.js';

export const PROJECTION = combined(PROJECTIONS.map(loadProjection));
export const HISTORY = 'a history';
/** For an event to pass. */
const WAIT_MS = 5_000;

export class ProjectionHostFixture {
  readonly logger = recordingLogger();
  readonly #directory = temporaryDirectory();
  readonly #hosts: ProjectionHost<AccountState>[] = [];
  #opened = openSqliteStore(this.#directory.path);
  #states = this.#openStates();

  get store(): EventStore {
    return this.#opened.store;
  }

  get states(): ProjectionStates {
    return this.#states;
  }

  /** The read model's whole content, for comparison. */
  get stored(): string {
    return JSON.stringify([...this.#states.all()]);
  }

  path(file: string): string {
    return join(this.#directory.path, file);
  }

  host(parts: Partial<ProjectionHostParts<AccountState>> = {}): ProjectionHost<AccountState> {
    const { store, states, logger } = this;
    const common = { projection: PROJECTION, store, states, logger, now: () => performance.now(), time: Date.now };
    const made = new ProjectionHost<AccountState>({ ...common, ...parts });
    this.#hosts.push(made);
    return made;
  }

  /** Fulfilled once it has caught up. */
  async started(parts: Partial<ProjectionHostParts<AccountState>> = {}): Promise<ProjectionHost<AccountState>> {
    const made = this.host(parts);
    made.start(HISTORY);
    await made.caughtUp;
    return made;
  }

  append(accountId: number, events: AccountEvent[], revision = NO_STREAM) {
    return this.store.append(accountStream(accountId), enveloped(events, CONTEXT, randomUUID), revision);
  }

  async stopHosts(): Promise<void> {
    await Promise.all(this.#hosts.splice(0).map((host) => host.close()));
  }

  /** Stops the hosts, makes `change` to the files, and opens the read model again. */
  async reopenStates(change: () => void): Promise<void> {
    await this.stopHosts();
    this.#states.close();
    change();
    this.#states = this.#openStates();
  }

  /** The same for the store. */
  async reopenStore(change: () => void): Promise<void> {
    await this.stopHosts();
    await this.#opened.close();
    change();
    this.#opened = openSqliteStore(this.#directory.path);
  }

  /** Removes a SQLite file, or only SQLite's files beside it. */
  remove(file: string, suffixes: readonly string[] = ['', '-wal', '-shm']): void {
    for (const suffix of suffixes) rmSync(this.path(file + suffix), { force: true });
  }

  async close(): Promise<void> {
    await this.stopHosts();
    this.#states.close();
    await this.#opened.close();
    this.#directory.remove();
  }

  #openStates(): ProjectionStates {
    return openProjectionStates(this.#directory.path, () => undefined);
  }
}

/** Fulfilled once the event is folded, even if more events are. */
export async function waitUntilProjected(
  host: ProjectionHost<AccountState>,
  accountId: number,
  revision: number,
): Promise<void> {
  await eventually(() => (host.known.cached(accountStream(accountId))?.revision ?? NO_STREAM) >= revision, {
    timeout: WAIT_MS,
  });
}
