/** Runs the recoveries of the topic, shared with the other API processes: each record is one, and is done at its end. */
import type { Broker, Consumer, NewRecord, ReceivedRecord, RecordHold } from '../../ports/broker.js';
import type { RecoveryOrder } from '../../ports/send-again.js';
import { retry } from '../../time/retry.js';
import { recoveryGroup, type Topics } from '../topics.js';
import { type RecoveryRunParts, runRecovery } from './recovery-run.js';

export interface RecoveryRunnerParts extends Omit<RecoveryRunParts, 'pause' | 'mustBeOwn' | 'accountMaySend'> {
  readonly broker: Pick<Broker, 'extent' | 'consume' | 'ensureTopics'>;
  readonly topics: Pick<Topics, 'deliveries' | 'recoveries'>;
  readonly group: string;
  /** Takes one send of the account. @returns ms until it may send; 0 or less: it was taken */
  readonly takeSend: (accountId: number) => number;
  /** Fulfilled after this many ms, or when the signal aborts. */
  readonly pause: (ms: number, signal: AbortSignal) => Promise<void>;
}

/** Recoveries that run in this process. */
const IN_FLIGHT = 2_000;

export function toRecoveryRecord(order: RecoveryOrder): NewRecord {
  return { key: Buffer.from(order.id), value: Buffer.from(JSON.stringify(order)), headers: [] };
}

export class RecoveryRunner {
  readonly #parts: RecoveryRunnerParts;
  readonly #stopping = new AbortController();
  #consumer: Consumer | null = null;
  #running: Promise<void> | null = null;

  constructor(parts: RecoveryRunnerParts) {
    this.#parts = parts;
  }

  /** Returns at once, even if the broker is unreachable. */
  start(): void {
    const { signal } = this.#stopping;
    const failed = (error: unknown) => this.#parts.logger.warn({ err: error }, 'recoveries cannot be read; retrying');
    this.#running = retry(() => this.#consume(), { signal, failed });
  }

  /** Recoveries that run go on in another process, or after the next start. */
  async close(): Promise<void> {
    this.#stopping.abort();
    await this.#consumer?.close();
    await this.#running;
  }

  async #consume(): Promise<void> {
    const { broker, topics, group, logger } = this.#parts;
    await broker.ensureTopics([topics.recoveries, topics.deliveries]);
    this.#consumer = await broker.consume({
      topics: [topics.recoveries],
      group: recoveryGroup(group),
      inFlight: IN_FLIGHT,
      handler: (record, hold) => this.#handle(record, hold),
      onUnreadable: async (batch) =>
        logger.error(batch, 'a batch of the recoveries topic can not be read: skipping it'),
    });
    if (this.#stopping.signal.aborted) await this.#consumer.close();
    await this.#consumer.closed;
  }

  async #handle(record: ReceivedRecord, hold: RecordHold): Promise<void> {
    const order = orderIn(record);
    const { logger } = this.#parts;
    if (!order) return logger.warn({ offset: record.offset }, 'a record of the recoveries topic is not valid');
    const parts = { ...this.#parts, pause: (ms: number) => this.#pause(ms), mustBeOwn: () => mustBeOwn(hold) };
    try {
      await runRecovery({ ...parts, accountMaySend: (accountId) => this.#accountMaySend(accountId) }, order);
    } catch (error) {
      if (!this.#stopping.signal.aborted)
        logger.warn({ err: error, recoveryId: order.id }, 'a recovery is interrupted');
      throw error;
    }
  }

  async #pause(ms: number): Promise<void> {
    const { signal } = this.#stopping;
    if (ms > 0) await this.#parts.pause(ms, signal);
    signal.throwIfAborted();
  }

  async #accountMaySend(accountId: number): Promise<void> {
    for (;;) {
      const tooEarlyMs = this.#parts.takeSend(accountId);
      if (tooEarlyMs <= 0) return;
      await this.#pause(tooEarlyMs);
    }
  }
}

/** Null for a foreign record. */
function orderIn({ value }: ReceivedRecord): RecoveryOrder | null {
  try {
    const order = JSON.parse(value?.toString('utf8') ?? 'null') as RecoveryOrder;
    const { id, accountId, webhookId, actor } = order;
    const isSound = [id, actor].every((text) => typeof text === 'string');
    return isSound && [accountId, webhookId].every(Number.isSafeInteger) ? order : null;
  } catch {
    return null;
  }
}

async function mustBeOwn(hold: RecordHold): Promise<void> {
  if (!(await hold.isOwn())) throw new Error('another process now has the recovery');
}
