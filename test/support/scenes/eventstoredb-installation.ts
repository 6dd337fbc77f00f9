/**
 * An event store and one process of the service on it, as far as its history goes: adapter, read model, watch over the head,
 * identity. Everything that can happen to the two is a method.
 */
import { randomUUID } from 'node:crypto';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { withinTime } from '../../../src/adapters/common/time-limit.js';
import { fromPosition } from '../../../src/adapters/eventstoredb/positions.js';
import { openProjectionStates } from '../../../src/adapters/sqlite/projection-states.js';
import { Confirmation } from '../../../src/delivery/confirmation.js';
import { type EventStore, OtherHistory } from '../../../src/ports/event-store.js';
import type { ProjectionStates } from '../../../src/ports/projection-states.js';
import { ProjectionHost } from '../../../src/read-model/projection-host.js';
import { acceptedIdentity } from '../../../src/read-model/store-identity.js';
import { enveloped } from '../../../src/webhooks/envelope.js';
import { accountStream } from '../../../src/webhooks/events.js';
import type { AccountState } from '../../../src/webhooks/state.js';
import { patience } from '../../runner/patience.js';
import { type EventStoreServer, startEventStore } from '../../services/eventstoredb/event-store-server.js';
import type { ServerVersion } from '../../services/eventstoredb/own-server.js';
import { json, type StoredData } from '../../services/eventstoredb/stored-data.js';
import { eventually } from '../clocks/eventually.js';
import { added, CONTEXT, registered } from '../generators/webhook-samples.js';
import { openEventStoreDb } from './eventstoredb-subjects.js';
import { PROJECTION } from './projection-host-fixture.js';
import { silentLogger } from './silent-logger.js';
import { temporaryDirectory } from './temporary-directory.js';

const WATCH_EVERY_MS = 100;
const PATIENCE = { timeout: 20_000 };

interface Process {
  readonly store: EventStore;
  readonly states: ProjectionStates;
  readonly host: ProjectionHost<AccountState>;
  readonly confirmation: Confirmation;
  readonly stopping: AbortController;
  /** Set once its history turned out to be another one. */
  refused: OtherHistory | null;
}

export class Installation {
  readonly #folder = temporaryDirectory();
  readonly #version: ServerVersion;
  #server: EventStoreServer;
  #process: Process | null = null;
  #identity: string | null = null;
  /** Of the events that this process appended, since it was started. */
  #own: string[] = [];
  #nextWebhook = 1;

  private constructor(version: ServerVersion, server: EventStoreServer) {
    this.#version = version;
    this.#server = server;
  }

  static async start(version: ServerVersion): Promise<Installation> {
    const made = new Installation(version, await startEventStore({ version }));
    await made.startProcess();
    return made;
  }

  /** Of the running process. */
  get host(): ProjectionHost<AccountState> {
    if (!this.#process) throw new Error('the process is stopped');
    return this.#process.host;
  }

  get data(): StoredData {
    return this.#server.data;
  }

  /** Null while the process is stopped. */
  get refused(): OtherHistory | null {
    return this.#process?.refused ?? null;
  }

  /** Ids of events that this process certainly knows: what it appended, and the last event of its read model's position. */
  get known(): readonly string[] {
    const position = this.#process?.states.open({ version: PROJECTION.version, history: this.#identity ?? '' });
    const id = fromPosition(position ?? '')?.event?.id;
    return id ? [...this.#own, id] : this.#own;
  }

  async startProcess(): Promise<void> {
    const store = openEventStoreDb(this.#server.url);
    const states = openProjectionStates(this.#folder.path, () => undefined);
    const now = () => performance.now();
    const host = new ProjectionHost<AccountState>({
      ...{ projection: PROJECTION, store, states, logger: silentLogger, now, time: Date.now },
      askHeadEveryMs: WATCH_EVERY_MS,
    });
    const stopping = new AbortController();
    const passHead = (signal: AbortSignal) => host.passHead(signal);
    const confirmation = new Confirmation(passHead, stopping.signal, now);
    const process: Process = { store, states, host, confirmation, stopping, refused: null };
    const refuse = (error: unknown) => {
      if (!(error instanceof OtherHistory)) throw error;
      process.refused = error;
    };
    host.lost.catch(refuse);
    this.#process = process;
    this.#own = [];
    try {
      this.#identity = await acceptedIdentity({ store, newId: randomUUID }, this.#identity);
    } catch (error) {
      return refuse(error);
    }
    host.start(this.#identity);
    host.head.start();
  }

  async stopProcess(): Promise<void> {
    const { store, states, host, stopping } = this.#process ?? {};
    stopping?.abort();
    await host?.head.close();
    await host?.close();
    await store?.close();
    states?.close();
    this.#process = null;
    this.#own = [];
  }

  /** What `store accept` does: whatever store is there is taken. */
  async accept(): Promise<void> {
    await this.stopProcess();
    this.#identity = null;
    await this.rebuild();
  }

  async rebuild(): Promise<void> {
    await this.stopProcess();
    for (const suffix of ['', '-wal', '-shm'])
      rmSync(join(this.#folder.path, `read-model.sqlite${suffix}`), { force: true });
    await this.startProcess();
  }

  /** @param data by default what it has */
  async restartServer(how: 'kill' | 'stop', data: StoredData = this.data): Promise<void> {
    await this.#server[how]();
    this.#server = await startEventStore({ version: this.#version, port: this.#server.port, data });
  }

  get faults(): EventStoreServer['faults'] {
    return this.#server.faults;
  }

  /** As a command does it: read, append, visible at once. */
  async append(accountId: number): Promise<void> {
    const { store, host } = this.#process ?? {};
    if (!store || !host) return;
    const stream = accountStream(accountId);
    const before = await host.known.latest(stream);
    const revision = before?.revision ?? -1;
    const events = enveloped(
      revision === -1 ? [registered(accountId)] : [added(this.#nextWebhook++)],
      CONTEXT,
      randomUUID,
    );
    const appended = await store.append(stream, events, revision);
    const eventId = events[0]?.id ?? '';
    this.#own.push(eventId);
    host.known.append(stream, before, events, appended.revision);
  }

  /** Another process of the service, at the server itself. */
  appendElsewhere(accountId: number, data = this.data): void {
    const stream = accountStream(accountId);
    const isFirst = data.lastRevision(stream) === -1;
    const { type, data: content } = isFirst ? registered(accountId) : added(this.#nextWebhook++);
    data.append(stream, [json(type, JSON.stringify(content))]);
  }

  /** Fulfilled once the process has every event of the store. */
  async passHead(withinMs = 5_000): Promise<void> {
    await eventually(() => this.host.progress.kind === 'live', PATIENCE);
    await withinTime(Math.ceil(withinMs * patience()), this.confirmed());
  }

  /** As a dispatcher asks for a payment. */
  confirmed(): Promise<void> {
    return this.#process?.confirmation.confirmed() ?? Promise.reject(new Error('the process is stopped'));
  }

  /** Whether the process confirms a decision, and has every event of the store then. @throws after `withinMs` */
  async confirm(withinMs: number): Promise<void> {
    await this.passHead(withinMs);
    for (const stream of this.data.streams('account-')) {
      const [known, stored] = [this.host.known.cached(stream)?.revision, this.data.lastRevision(stream)];
      if (known !== stored) throw new Error(`${stream} is at ${stored}, and known up to ${known}`);
    }
  }

  async end(): Promise<void> {
    await this.stopProcess();
    await this.#server.stop();
    this.#folder.remove();
  }
}
