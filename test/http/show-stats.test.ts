import type { StatsBucket, StatsQuery } from '../../src/ports/deliveries-view.js';
import type { Answer } from '../support/clients/api-client.js';
import { viewOf } from '../support/scenes/account-view.js';
import { startBareApi } from '../support/scenes/bare-api.js';

const NOW = Date.parse('2026-11-21T09:30:10.000Z');
const HOUR = 3_600_000;
const at = (text: string) => Date.parse(`2026-11-${text}Z`);

/** One request to a view that has this. @returns also what the view was asked */
async function get(query: string, since: number | null, found: readonly StatsBucket[] = []) {
  const asked: StatsQuery[] = [];
  const stats = (one: StatsQuery) => {
    asked.push(one);
    return found;
  };
  const view = viewOf({ stats, dataSince: () => since });
  const api = await startBareApi({ parts: { view, now: () => new Date(NOW) } });
  try {
    const answer: Answer<{ buckets: { at: string }[] }> = await api.client().send('GET', `/api/stats${query}`);
    return { ...answer, asked };
  } finally {
    await api.close();
  }
}

const counted = { delivered: 3, failedAttempts: 1, exhausted: 0, cancelled: 0, held: 0, p50Ms: 12, p95Ms: 80 };
const nothing = { delivered: 0, failedAttempts: 0, exhausted: 0, cancelled: 0, held: 0, p50Ms: null, p95Ms: null };

it('has 24 hours by default, the current one included, and zeros where nothing happened', async () => {
  const { body, asked } = await get('', at('01T00:00'), [{ at: at('21T09:00'), ...counted }]);
  expect(asked).toEqual([{ from: at('20T10:00'), to: at('21T10:00'), step: '1h', webhookId: null, eventType: null }]);
  expect(body.buckets).toHaveLength(24);
  expect([body.buckets[0], body.buckets.at(-1)]).toEqual([
    { at: '2026-11-20T10:00:00.000Z', ...nothing },
    { at: '2026-11-21T09:00:00.000Z', ...counted },
  ]);
});

it.each([
  ['?step=1m&from=2026-11-21T09:00:30Z&to=2026-11-21T09:10:00Z', at('21T09:00'), at('21T09:10'), 10],
  ['?step=1h&from=2026-11-11T12:30:00Z', at('11T12:00'), at('21T10:00'), 238],
  ['?webhookId=7&eventType=cash_in&to=2999-01-01', at('20T10:00'), at('21T10:00'), 24],
  ['?step=1m', at('20T09:31'), at('21T09:31'), 1_440],
])('"%s" is asked of the view from step to step', async (query, from, to, count) => {
  const { body, asked } = await get(query, 0);
  expect(asked).toMatchObject([{ from, to }]);
  expect(body.buckets).toHaveLength(count);
});

it('begins where the data begins: that of minutes is two days old at most', async () => {
  const { body } = await get('', at('21T08:15'));
  expect(body).toMatchObject({
    dataSince: '2026-11-21T08:15:00.000Z',
    buckets: [{ at: '2026-11-21T08:00:00.000Z' }, { at: '2026-11-21T09:00:00.000Z' }],
  });
  const old = await get('?step=1m&from=2026-11-19T09:00:00Z&to=2026-11-19T09:40:00Z', 0);
  expect(old.body).toMatchObject({ dataSince: new Date(NOW - 48 * HOUR).toISOString(), buckets: { length: 10 } });
});

it('of an account without data is empty', async () => {
  const { body } = await get('', null);
  expect(body).toEqual({ step: '1h', dataSince: null, buckets: [] });
});

it('of too many steps is 400', async () => {
  for (const query of ['?from=0000-01-01', '?step=1m&from=2026-11-20'])
    expect(await get(query, 0)).toMatchObject({ status: 400, body: { errors: [{ code: 'too-many-steps' }] } });
});
