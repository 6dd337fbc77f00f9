/**
 * Runs the recoveries that the read model names, in one of the API processes: the one that has the partition of the requests
 * topic in a group that takes no record. Progress is not stored: a request names its recovery, and the view leaves out what
 * was requested. So after a crash, an outage or a takeover another run goes on where this one ended.
 */
import type { Broker, Consumer } from '../../ports/broker.js';
import type { RunningRecoveries, RunningRecovery } from '../../read-model/running-recoveries.js';
import { retry, type Sleep, sleep } from '../../time/retry.js';
import { recoveryGroup } from '../topics.js';
import { RecoveryRun, type RecoveryRunParts } from './recovery-run.js';

interface RecoveryRunnerParts extends Omit<RecoveryRunParts, 'broker' | 'isOwner' | 'pause'> {
  readonly broker: Pick<Broker, 'extent' | 'consume' | 'ensureTopics'>;
  readonly group: string;
  readonly recoveries: Pick<RunningRecoveries, 'scan' | 'now'>;
  readonly pause?: Sleep;
}

const LOOK_EVERY_MS = 200;
const GO_ON_AFTER_MS = 5_000;

export class RecoveryRunner {
  readonly #parts: RecoveryRunnerParts;
  readonly #stopping = new AbortController();
  /** By id, those that run here. */
  readonly #runs = new Map<string, Promise<void>>();
  #consumer: Consumer | null = null;
  #isScanned = false;
  #looking: Promise<void> | null = null;

  constructor(parts: RecoveryRunnerParts) {
    this.#parts = parts;
  }

  /** Returns at once, even if the broker is unreachable. */
  start(): void {
    const { logger, pause = sleep } = this.#parts;
    const failed = (err: unknown) => logger.warn({ err }, 'cannot look for recoveries; retrying');
    this.#looking = retry(() => this.#look(), { signal: this.#stopping.signal, failed, pause });
  }

  /** Recoveries that run go on in another process, or after the next start. */
  async close(): Promise<void> {
    this.#stopping.abort();
    await Promise.all([this.#looking, ...this.#runs.values()]);
  }

  async #look(): Promise<void> {
    const { broker, topics, group, recoveries, pause = sleep } = this.#parts;
    const { signal } = this.#stopping;
    await broker.ensureTopics([topics.requests, topics.deliveries]);
    const of = { topics: [topics.requests], group: recoveryGroup(group) };
    const consumer = await broker.consume({ ...of, inFlight: 0, accept: () => ({ handle: async () => undefined }) });
    this.#consumer = consumer;
    try {
      for (let isOpen = true; isOpen && !signal.aborted; ) {
        if (this.#isOwner() && !this.#isScanned) {
          await recoveries.scan(signal);
          this.#isScanned = true;
        }
        if (this.#isOwner()) for (const one of recoveries.now()) this.#begin(one);
        isOpen = await Promise.race([pause(LOOK_EVERY_MS, signal).then(() => true), consumer.closed.then(() => false)]);
      }
    } finally {
      this.#consumer = null;
      await consumer.close();
    }
  }

  #isOwner(): boolean {
    return !this.#stopping.signal.aborted && this.#consumer?.isOwner(this.#parts.topics.requests, 0) === true;
  }

  #begin(running: RunningRecovery): void {
    const { id } = running.recovery;
    if (this.#runs.has(id)) return;
    const { logger, pause = sleep } = this.#parts;
    const { signal } = this.#stopping;
    const parts = {
      ...this.#parts,
      isOwner: () => this.#isOwner(),
      pause: async (ms: number) => {
        await pause(ms, signal);
        signal.throwIfAborted();
      },
    };
    const interrupted = async (err: unknown) => {
      if (signal.aborted) return;
      logger.warn({ err, recoveryId: id }, 'a recovery is interrupted; it goes on');
      await pause(GO_ON_AFTER_MS, signal);
    };
    const run = new RecoveryRun(parts, running).done().catch(interrupted);
    this.#runs.set(
      id,
      run.finally(() => this.#runs.delete(id)),
    );
  }
}
