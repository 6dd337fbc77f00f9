/** Records that do not belong in the service's topics: nonsense, and records that imitate the service's own. */
import type { NewRecord } from '../../src/ports/broker.js';
import { header } from './delivery-samples.js';

/** A due time far beyond any test. */
const FAR = String(Date.UTC(2100, 0));
const ESCAPES = 'two\nlines, \u001b[2J and \u0000';

/** Records that no topic recognises. */
export const NONSENSE: readonly NewRecord[] = [
  nonsense(null),
  nonsense(''),
  nonsense('not JSON'),
  nonsense('[1, 2]'),
  nonsense('{"id": 5, "attempts": null}'),
  nonsense(Buffer.from([0xff, 0xfe, 0x00])),
  { ...nonsense('{}'), headers: [header('x-huge', 'x'.repeat(200_000))] },
  { ...nonsense('{}'), headers: [header('aw-due', FAR), header('aw-attempts', '-1'), header('aw-detail', ESCAPES)] },
];

/** Nearly the shape of the deliveries topic's entries. */
export const CROOKED_ENTRIES: readonly NewRecord[] = [
  { deliveries: 5, routed: {}, starts: null },
  { id: 'crooked-1' },
  { id: 'crooked-2', accountId: 7 },
  { id: `crooked-3 ${ESCAPES}`, accountId: 7, attempt: 5, outcome: 'nonsense', nextAttemptAt: {} },
  { id: 'crooked-4', accountId: 7, attempt: { at: 1, status: 'x' }, eventId: null },
].map((entry) => nonsense(JSON.stringify({ deliveries: [null, entry], routed: [entry], starts: [entry], ...entry })));

export interface Forgery {
  readonly deliveryId: string;
  readonly accountId: number;
  readonly webhookId: number;
  /** The id of the event that added the webhook. */
  readonly webhookEvent: string;
  readonly value: string;
}

/** A record with all headers of ours, for a delivery that is exhausted, waits forever, and was never attempted. */
export function forged({ deliveryId, accountId, webhookId, webhookEvent, value }: Forgery): NewRecord {
  const headers = {
    'aw-delivery-id': deliveryId,
    'aw-event-id': ESCAPES,
    'aw-event-type': 'cash_in',
    'aw-account-id': String(accountId),
    'aw-webhook-id': String(webhookId),
    'aw-webhook-event': webhookEvent,
    'aw-attempts': '-1',
    'aw-step': '-1',
    'aw-due': FAR,
    'aw-reason': 'exhausted',
    'aw-detail': ESCAPES,
    'aw-source': ESCAPES,
  };
  return {
    key: null,
    value: Buffer.from(value),
    headers: Object.entries(headers).map(([name, text]) => header(name, text)),
  };
}

function nonsense(value: string | Buffer | null): NewRecord {
  return { key: null, value: value === null ? null : Buffer.from(value as string), headers: [] };
}
