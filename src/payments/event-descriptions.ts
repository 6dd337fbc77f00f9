import type { EventType } from '../webhooks/limits.js';

/** The meaning of each event type. The documents and the console's English use these texts; the wording is the mission's. */
export const EVENT_DESCRIPTIONS: Readonly<Record<EventType, string>> = {
  cash_in: 'Instant payment received',
  cash_out: 'Instant payment sent',
  refund_in: 'Refund of a received payment (refund requested)',
  refund_out: 'Refund received',
  med_created: 'A special refund mechanism (MED) case opened against a transaction',
  med_accepted: 'A MED refund request approved',
  med_rejected: 'A MED refund request rejected',
};

/** As sentences, for descriptions in /openapi.json and /asyncapi.json. A function, so that the console is built without it. */
export function describeEventTypes(): string {
  return Object.entries(EVENT_DESCRIPTIONS)
    .map(([type, meaning]) => `\`${type}\`: ${meaning}.`)
    .join(' ');
}
