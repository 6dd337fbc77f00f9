/** One side's turn: it runs warm, then so many seconds count. */
import { setTimeout as delay } from 'node:timers/promises';
import { cpuMs } from '../../test/support/clients/process-stats.js';
import type { Receivers } from './installation.js';
import { SECONDS, WARM_UP_SECONDS } from './sizes.js';

export interface Sending {
  /** Of the process that sends. */
  readonly pid: number;
  begin(): Promise<void>;
  end(): Promise<void>;
}

export interface Throughput {
  readonly perSecond: number;
  /** CPU of the sender for each, microseconds. */
  readonly cpuUs: number;
  /** What the receivers used of one core, 0 to 1. */
  readonly receiversBusy: number;
}

export async function deliveryTurn(receivers: Receivers, sending: Sending): Promise<Throughput> {
  await sending.begin();
  await delay(WARM_UP_SECONDS * 1_000);
  const before = await looked(receivers, sending);
  await delay(SECONDS * 1_000);
  const after = await looked(receivers, sending);
  await sending.end();
  const count = after.answered - before.answered;
  const ms = after.at - before.at;
  return {
    perSecond: (1_000 * count) / ms,
    cpuUs: (1_000 * (after.senderCpu - before.senderCpu)) / count,
    receiversBusy: (after.receiversCpu - before.receiversCpu) / ms,
  };
}

async function looked(receivers: Receivers, { pid }: Sending) {
  const sample = await receivers.ask('sample');
  return { ...sample, senderCpu: cpuMs(pid), receiversCpu: cpuMs(receivers.pid) };
}
