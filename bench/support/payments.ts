/** Payment events as a payment system would write them, of a given size. */
import { machineMs } from './clock.js';

/** Of an event's JSON; an instant payment has about as much. */
const PAYMENT_BYTES = 800;

interface Options {
  readonly bytes?: number;
  readonly at?: number;
  readonly type?: string | undefined;
}

/** @param at when it is published, by the machine's clock (clock.ts); receivers read it back */
export function payment(
  id: string,
  accountId: number,
  { bytes = PAYMENT_BYTES, at = machineMs(), type = 'cash_in' }: Options = {},
): Buffer {
  const event = {
    id,
    type,
    accountId,
    timestamp: new Date().toISOString(),
    data: { publishedAt: at.toFixed(3), amount: '10.00', currency: 'BRL', endToEndId: `E${id}`, note: '' },
  };
  const bare = Buffer.byteLength(JSON.stringify(event));
  event.data.note = 'n'.repeat(Math.max(0, bytes - bare));
  return Buffer.from(JSON.stringify(event));
}

/** Reads it without parsing the rest. */
export function publishedAt(body: Buffer): number {
  const found = /"publishedAt":"([\d.]+)"/.exec(body.toString('latin1', 0, 400));
  return Number(found?.[1]);
}
