/**
 * Bodies of any kind: what is published are the bytes that were sent, if the dispatcher takes each of them; otherwise
 * nothing is published, and each wrong one is named. FUZZ_REQUESTS sets how many, TEST_SEED makes them again.
 */
import fc from 'fast-check';
import { parsePaymentEvent } from '../../../src/payments/payment-event.js';
import type { NewRecord } from '../../../src/ports/broker.js';
import { SEED } from '../../runner/seed.js';
import { inFull } from '../../runner/thorough.js';
import { anyBytes, broken, oddLiteral, withOneChange } from '../../support/generators/odd-json.js';
import { type BareApi, startBareApi, UNPACED } from '../../support/scenes/bare-api.js';

const REQUESTS = Number(process.env.FUZZ_REQUESTS ?? inFull(5_000, 500, 50_000));
const STRUCTURED = [['content-type', Buffer.from('application/cloudevents+json; charset=utf-8')]] as const;

let api: BareApi;
let published: NewRecord[] = [];

beforeAll(async () => {
  const broker = { publish: async (_: string, records: readonly NewRecord[]) => [published.push(...records)] };
  api = await startBareApi({ parts: { publishing: { broker, topics: ['payment-events'], ...UNPACED } } });
});

afterAll(() => api.close());

const PLAIN = { id: 'p', type: 'cash_in', accountId: 42, timestamp: 't', data: { amount: '1' } };
const CLOUD_EVENT = {
  specversion: '1.0',
  id: 'c',
  source: '/s',
  type: 'a.cash_in',
  accountid: '7',
  data: { accountId: 7 },
};
const good = fc.constantFrom<object>(PLAIN, CLOUD_EVENT);
/** JSON texts without a line feed, most of them events. */
const text = fc.oneof(
  { weight: 6, arbitrary: good.map((event) => JSON.stringify(event)) },
  { weight: 2, arbitrary: withOneChange(good) },
  { weight: 1, arbitrary: oddLiteral },
);
const bytes = fc.oneof(
  { weight: 8, arbitrary: text.map((one) => Buffer.from(one)) },
  { weight: 1, arbitrary: broken(good.map((event) => JSON.stringify(event))) },
  { weight: 1, arbitrary: anyBytes },
);
const space = fc.constantFrom('', ' ', '\r', '\t ');

interface Posted {
  readonly type: string;
  readonly body: Buffer;
  readonly events: readonly Buffer[];
  readonly headers: NewRecord['headers'];
}

const one = bytes.map((event): Posted => ({ type: 'application/json', body: event, events: [event], headers: [] }));
const structured = bytes.map((event): Posted => {
  return { type: 'application/cloudevents+json', body: event, events: [event], headers: STRUCTURED };
});
const lines = fc.tuple(fc.array(bytes, { maxLength: 5 }), space).map(([all, blank]): Posted => {
  const body = Buffer.concat(all.flatMap((event) => [event, Buffer.from(`\n${blank === '\r' ? blank : ''}\n`)]));
  const [first = Buffer.alloc(0), ...others] = all;
  const events = [first.subarray(first.indexOf('\ufeff') === 0 ? 3 : 0), ...others].flatMap(splitAtLineFeeds);
  return { type: 'application/x-ndjson', body, events, headers: [] };
});
const batch = fc.tuple(fc.array(text, { maxLength: 5 }), space).map(([all, around]): Posted => {
  const body = Buffer.from(`${around}[${all.map((event) => around + event + around).join()}${around}]`);
  const events = all.map((event) => Buffer.from(event));
  return { type: 'application/cloudevents-batch+json', body, events, headers: STRUCTURED };
});

function splitAtLineFeeds(event: Buffer): Buffer[] {
  const parts = event.toString('latin1').split('\n');
  const lines = parts.filter((part) => /[^ \t\r]/.test(part));
  return lines.map((line) => Buffer.from(line.replace(/\r$/, ''), 'latin1'));
}

test(`${REQUESTS} bodies are taken or refused as a whole (TEST_SEED=${SEED})`, async () => {
  const tally: Record<number, number> = {};
  const property = fc.asyncProperty(
    fc.oneof(one, structured, lines, batch),
    async ({ type, body, events, headers }) => {
      published = [];
      const wrong = events.flatMap((value, index) => (parsePaymentEvent({ value, headers }).ok ? [] : [`[${index}]`]));
      const init = { method: 'POST', headers: { authorization: 'Bearer publisher', 'content-type': type }, body };
      const response = await fetch(`${api.url}/api/payment-events`, init);
      const answer = (await response.json()) as { accepted?: number; errors?: { field: string }[] };
      tally[response.status] = (tally[response.status] ?? 0) + 1;
      const named = answer.errors?.map(({ field }) => field.replace(/\..*$/s, '')) ?? [];
      const accepted = wrong.length > 0 ? [] : events;
      expect({ status: response.status, named }).toEqual({ status: wrong.length > 0 ? 400 : 202, named: wrong });
      expect(answer.accepted).toBe(wrong.length > 0 ? undefined : accepted.length);
      expect(published.map(({ value }) => value)).toEqual(accepted);
      for (const { key, ...record } of published) {
        const parsed = parsePaymentEvent(record);
        expect(parsed.ok && String(parsed.event.accountId)).toBe(String(key));
      }
    },
  );
  await fc.assert(property, { seed: SEED, numRuns: REQUESTS });
  console.log({ seed: SEED }, tally);
  expect(Object.keys(tally)).toEqual(['202', '400']);
});
