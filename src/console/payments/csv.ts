/** Payments as CSV (RFC 4180), for spreadsheets. Pure. */
import type { Payment } from '../api/shapes.js';
import type { Texts } from '../texts/en.js';

/** Without it spreadsheets read UTF-8 as something else. */
const BYTE_ORDER_MARK = '\ufeff';
/** A spreadsheet would run what begins so as a formula (OWASP, CSV injection). */
const FORMULA = /^[=+\-@\t\r]/;

interface Writing {
  readonly texts: Texts;
  readonly separator: ',' | ';';
  /** False: without what the session may not see. */
  readonly hasPayloads: boolean;
  /** By the ids of webhooks. */
  readonly urls: ReadonlyMap<number, string>;
}

export function csvOf(payments: readonly Payment[], { texts, separator, hasPayloads, urls }: Writing): string {
  const { csv: t, payments: names, eventTypes, arrived, outcomes } = texts;
  const destinations = ({ sentTo }: Payment) =>
    sentTo.map(({ webhookId, outcome, held }) => {
      const shown = held ? 'held' : outcome;
      return `${urls.get(webhookId) ?? webhookId}: ${shown ? outcomes[shown] : texts.payments.onItsWay}`;
    });
  const number = (text: string) => (separator === ';' ? text.replace(/^(\d+)\.(\d+)$/, '$1,$2') : text);
  const columns: readonly (readonly [string, (payment: Payment) => string | null])[] = [
    [t.utc, ({ publishedAt }) => publishedAt && utcText(new Date(publishedAt))],
    [t.local, ({ publishedAt }) => publishedAt && zonedText(new Date(publishedAt))],
    [names.eventId, ({ eventId }) => eventId],
    [names.type, ({ eventType }) => eventTypes[eventType]],
    [names.arrivedHead, (payment) => arrived[payment.arrived]],
    [names.sentTo, (payment) => destinations(payment).join(' | ')],
    ...(hasPayloads
      ? ([
          [names.amount, ({ amount }) => amount && number(amount)],
          [names.reference, ({ reference }) => reference],
          [texts.delivery.payload.title, ({ payload }) => payload],
        ] satisfies [string, (payment: Payment) => string | null][])
      : []),
  ];
  const rows = [
    columns.map(([name]) => name),
    ...payments.map((payment) => columns.map(([, value]) => value(payment))),
  ];
  return BYTE_ORDER_MARK + rows.map((row) => `${row.map((value) => field(value ?? '')).join(separator)}\r\n`).join('');
}

/** As spreadsheets read a time. */
const utcText = (time: Date) => time.toISOString().slice(0, 19).replace('T', ' ');
/** The same in the reader's zone. */
const zonedText = (time: Date) => utcText(new Date(time.getTime() - time.getTimezoneOffset() * 60_000));

function field(value: string): string {
  const safe = FORMULA.test(value) ? `'${value}` : value;
  return /[",;\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
