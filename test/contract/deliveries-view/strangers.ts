/** What strangers write comes back as it was. */
import { ACCOUNT } from '../../support/generators/delivery-samples.js';
import { attempt, entries, entry, eventsQuery, query, routing } from '../../support/scenes/deliveries-view-subject.js';
import { ids, type ViewCase, viewCase } from './view-case.js';

const ODD = [
  'a\u0000b',
  '\ud800',
  'x\udfff\ud800y',
  '"\\\n',
  '%_?',
  "'; DROP TABLE events; --",
  ' ',
  '',
  'é',
  'e\u0301',
];

export const strangers: readonly ViewCase[] = [
  viewCase('ids, sources, amounts and references with any characters are shown and found, each apart', ({ port }) => {
    const texts = [...ODD, 'i'.repeat(1_024), `${'i'.repeat(1_023)}j`];
    port.add(
      texts.flatMap((text, n) => {
        const about = { eventId: text, eventSource: text };
        return [routing(n, { ...about, amount: text, reference: text }), entry(n, about)];
      }),
    );
    for (const text of texts) {
      const shown = [{ eventId: text, amount: text, reference: text }];
      expect(port.events(eventsQuery({ reference: text })).events).toMatchObject(shown);
      expect(port.events(eventsQuery({ eventId: text })).events).toMatchObject(shown);
      const [found, ...others] = port.page(query({ webhookId: null, eventId: text })).deliveries;
      expect([found?.eventId, others]).toEqual([text, []]);
      expect(port.publications(ACCOUNT, found?.id ?? '')).toMatchObject([{ eventId: text, eventSource: text }]);
    }
  }),
  viewCase('numbers of accounts, webhooks and offsets may be any safe integer', ({ port }) => {
    const large = Number.MAX_SAFE_INTEGER;
    const of = { accountId: large, webhookId: large - 1, place: { ...entry(1).place, offset: large - 2 } };
    const { accountId, place } = of;
    port.add([entry(1, of), routing(1, { accountId, place, webhooks: [2 ** 31, 2 ** 53 - 2] })]);
    expect(port.page(query(of)).deliveries).toMatchObject([{ webhookId: large - 1 }]);
    expect(port.events(eventsQuery({ accountId, webhookIds: [2 ** 31] })).events).toMatchObject([
      { arrived: 'part', sentTo: [{ webhookId: 2 ** 31 }, { webhookId: large - 1 }] },
    ]);
    expect([...port.health(accountId).keys()]).toEqual([large - 1]);
  }),
  viewCase('an attempt that began at no time that there is costs no other entry', ({ port }) => {
    port.add([entry(1, { attempt: attempt(1, { at: '2026-99-99T99:99:99.999Z' }) }), ...entries(4).slice(2)]);
    expect(ids(port)).toHaveLength(3);
  }),
];
