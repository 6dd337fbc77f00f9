/** A registration repeats its headers for each event type in its response: 20 KB of request are 144 KB of response. */
import { Admission } from '../../src/http/admission.js';
import { accountStream } from '../../src/webhooks/events.js';
import { EVENT_TYPES } from '../../src/webhooks/limits.js';
import { collect } from '../contract/contract.js';
import { eventually } from '../support/clocks/eventually.js';
import { type BareApi, startBareApi } from '../support/scenes/bare-api.js';
import { bound } from '../support/servers/bound-store.js';

const HEADERS = Array.from({ length: 5 }, (_, index) => ({ key: `X-Large-${index}`, value: 'v'.repeat(4_090) }));

describe('a registration with a long response', () => {
  let bare: BareApi;
  let open: () => void;
  let appends: number;

  beforeEach(async () => {
    appends = 0;
    const gate = new Promise<void>((resolve) => {
      open = resolve;
    });
    bare = await startBareApi({
      between: (store) => ({
        ...bound(store),
        append: async (...args) => {
          appends += 1;
          await gate;
          return store.append(...args);
        },
      }),
      parts: {
        admission: new Admission({
          msPerMinute: 0,
          now: () => 0,
          unsent: { user: 200_000, owner: 300_000, process: 400_000 },
        }),
      },
    });
  });
  afterEach(async () => {
    open();
    await bare.close();
  });

  const register = (path: string, accountId?: number) =>
    bare.client(accountId).post({ url: `https://shop.example.com/${path}`, eventTypes: EVENT_TYPES, headers: HEADERS });
  const long = () =>
    bare.client().post({ url: 'https://shop.example.com/', eventTypes: EVENT_TYPES, headers: HEADERS });

  it('is rejected before it changes anything while the user has too many that are not read', async () => {
    const first = long();
    await eventually(() => appends === 1);
    expect(await register('second')).toMatchObject({ status: 503, body: { code: 'too-many-unread' } });
    const short = bare.client().post({ url: 'https://shop.example.com/short', eventType: 'cash_in' });
    open();
    expect([(await first).status, (await short).status]).toEqual([200, 200]);
    const urls = new Set((await bare.client().list()).webhooks.map(({ url }) => url));
    expect(urls).toEqual(new Set(['https://shop.example.com/', 'https://shop.example.com/short']));
  });

  it('gives its room back once its response is read, and once it is rejected', async () => {
    open();
    expect((await register('1')).status).toBe(200);
    const headers = [...HEADERS.slice(1), { key: 'Content-Type', value: 'v'.repeat(4_090) }];
    const wrong = { url: 'https://shop.example.com/', eventTypes: EVENT_TYPES, headers };
    for (let n = 0; n < 3; n += 1) expect((await bare.client().post(wrong)).status).toBe(400);
    expect((await register('2')).status).toBe(200);
    expect((await collect(bare.store.read(accountStream(42)))).length).toBe(1 + 2 * EVENT_TYPES.length);
  });
});
