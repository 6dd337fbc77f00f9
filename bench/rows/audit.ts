/** `audit completeness` of BENCH_DELIVERIES, in a process of its own: time, memory, and the disk that its tables take. */
import type { Audited, handlers } from '../processes/audit.js';
import { Child } from '../support/child.js';
import { amount } from '../support/format.js';
import { sharedRows } from '../support/rounds.js';
import type { Tell } from '../support/row.js';
import { DELIVERIES } from '../support/sizes.js';

const TITLE = `audit completeness, ${DELIVERIES.toLocaleString('en-US')} deliveries`;

/** One audit: it takes minutes. */
export const audit = sharedRows<Audited>(
  async (tell) => [await auditOnce(tell)],
  [
    ['audit', TITLE, { kind: 'below', value: 900, unit: 's' }, ({ seconds }) => seconds],
    ['audit-memory', 'The same: memory', { kind: 'below', value: 300, unit: 'MiB' }, ({ peakMiB }) => peakMiB],
    ['audit-disk', 'The same: disk', { kind: 'below', value: 2_384, unit: 'MiB' }, ({ diskMiB }) => diskMiB],
  ],
);

async function auditOnce(tell: Tell): Promise<Audited> {
  const child = await Child.start<typeof handlers>('audit');
  try {
    const all = await child.ask('audit', DELIVERIES as never);
    tell(`${amount(all.seconds, 's')}, ${amount(all.peakMiB, 'MiB')}, ${amount(all.diskMiB, 'MiB')} on disk`);
    return all;
  } finally {
    await child.stop();
  }
}
