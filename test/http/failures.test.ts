/** What is not the caller's error: 500 or 503, which tell nothing of what lies behind. */
import { BrokerUnavailable, RecordRefused } from '../../src/ports/broker.js';
import { type EventStore, OtherHistory, StoreRefused, StoreUnavailable } from '../../src/ports/event-store.js';
import { ReadModelBehind } from '../../src/read-model/account-states.js';
import { type BareApi, type BareOptions, startBareApi } from '../support/scenes/bare-api.js';
import { bound } from '../support/servers/bound-store.js';

const SECRET_DETAILS = 'SQLITE_FULL: database or disk is full, /var/lib/data/store.sqlite';
const WEBHOOK = { url: 'https://shop.com/', eventType: 'cash_in' };

let api: BareApi;
afterEach(() => api.close());

async function post(options: BareOptions) {
  api = await startBareApi(options);
  const { status, headers, body } = await api.client().post(WEBHOOK);
  return { status, retryAfter: headers.get('retry-after'), body };
}

/** Its first appends fail. */
function failing(error: unknown, times = Number.POSITIVE_INFINITY): BareOptions {
  let left = times;
  const between = (store: EventStore): EventStore => ({
    ...bound(store),
    append: (...args) => (left-- > 0 ? Promise.reject(error) : store.append(...args)),
  });
  return { between };
}

describe('what the service can not do is 500 in the shape of every error, and tells nothing; the log has it', () => {
  const throwing = () => {
    throw new TypeError(SECRET_DETAILS);
  };
  const handling = (error: unknown): BareOptions => ({
    parts: { handleKeyedCommand: () => Promise.reject(error) },
  });
  it.each<[string, BareOptions]>([
    ['an append that fails', failing(new Error(SECRET_DETAILS))],
    ['a check that throws', { parts: { checkEndpoint: throwing } }],
    ['a verification that throws', { parts: { verifyToken: throwing } }],
    ['an error that calls itself a 404', handling(Object.assign(new Error(SECRET_DETAILS), { status: 404, expose: true }))], // biome-ignore format: one case a line
    ['something thrown that is no error', handling(SECRET_DETAILS)],
    ['nothing thrown', handling(undefined)],
  ])('%s', async (_, options) => {
    const body = { success: false, message: 'internal error', code: 'internal-error' };
    expect(await post(options)).toEqual({ status: 500, retryAfter: null, body });
    expect(api.logger.errors).toHaveLength(1);
  });
});

describe('an outage is 503 with Retry-After, and not told with every request', () => {
  it.each([
    ['a store out of reach', new StoreUnavailable(SECRET_DETAILS)],
    ['a store that refuses us', new StoreRefused(SECRET_DETAILS)],
    ['a store of another history', new OtherHistory(SECRET_DETAILS)],
    ['a read model too far behind', new ReadModelBehind(SECRET_DETAILS)],
    ['a broker out of reach', new BrokerUnavailable(SECRET_DETAILS)],
    ['a topic that refuses us', new RecordRefused(SECRET_DETAILS)],
  ])('%s', async (_, error) => {
    const message = 'the service is unavailable; Retry-After says when to try again';
    const body = { success: false, message, code: 'unavailable' };
    expect(await post(failing(error))).toEqual({ status: 503, retryAfter: '5', body });
    expect(api.logger.errors).toEqual([]);
  });
});

it('after a failure the service goes on', async () => {
  expect((await post(failing(new StoreUnavailable(SECRET_DETAILS), 1))).status).toBe(503);
  expect((await api.client().post(WEBHOOK)).status).toBe(200);
});
