import { type Broker, BrokerUnavailable } from '../../src/ports/broker.js';
import { type DeliveriesView, ViewEnded, ViewRefused, ViewUnsound } from '../../src/ports/deliveries-view.js';
import { eventually } from '../support/clocks/eventually.js';
import { many, shown, shows, TOPICS, ViewFollowerFixture } from '../support/scenes/view-follower-fixture.js';

let fixture: ViewFollowerFixture;
beforeEach(() => {
  fixture = new ViewFollowerFixture();
});
afterEach(() => fixture.close());

describe('a broker that is out of reach', () => {
  /** The broker as it is, except for follow. */
  const following = (follow: Broker['follow']) => ({
    ensureTopics: (topics: readonly string[]) => fixture.broker.ensureTopics(topics),
    extent: (topic: string) => fixture.broker.extent(topic),
    follow,
  });

  test('at the start is waited for, and said once; answers are what there is', async () => {
    await fixture.publish(...many(10));
    const first = fixture.follow();
    await shows(first, 10);
    await fixture.restart([first]);
    await fixture.publish(...many(10, 10));
    let tries = 0;
    const follow: Broker['follow'] = (...from) => {
      if (from[0] === TOPICS.deliveries) tries += 1;
      if (tries < 3) throw new BrokerUnavailable('down');
      return fixture.broker.follow(...from);
    };
    const view = fixture.follow({ broker: following(follow) });
    await eventually(async () => (await shown(view)).length === 10);
    await shows(view, 20);
    expect([tries, fixture.warnings]).toEqual([3, [['the broker is unavailable', expect.stringContaining('lags')]]]);
  });

  test('later is followed again, and nothing of it is missed', async () => {
    let tries = 0;
    const follow: Broker['follow'] = async function* (...from) {
      if (from[0] === TOPICS.deliveries) tries += 1;
      for await (const page of fixture.broker.follow(...from)) {
        yield page;
        if (tries === 1 && from[0] === TOPICS.deliveries) throw new BrokerUnavailable('it died');
      }
    };
    await fixture.publish(...many(10));
    const view = fixture.follow({ broker: following(follow) });
    await eventually(() => tries === 2);
    await fixture.publish(...many(10, 10));
    await shows(view, 20);
  });
});

describe('a file that', () => {
  const full = () => new ViewRefused('database or disk is full');

  test('takes nothing lets the view lag: said once, answers are what there is, and nothing is lost', async () => {
    let isFull = false;
    let refused = 0;
    const add =
      (view: DeliveriesView) =>
      async (...given: Parameters<DeliveriesView['add']>) => {
        if (isFull) {
          refused += 1;
          throw full();
        }
        await view.add(...given);
      };
    const view = fixture.follow({ open: fixture.between((inner) => ({ add: add(inner) })) });
    await fixture.publish(...many(10));
    await shows(view, 10);
    isFull = true;
    await fixture.publish(...many(5_000, 10));
    await eventually(() => refused >= 3);
    expect(refused).toBe(3);
    expect(await shown(view)).toHaveLength(10);
    expect(fixture.warnings).toEqual([['its file is not writable', expect.stringContaining('lags')]]);
    isFull = false;
    await shows(view, 5_010);
    expect(fixture.warnings).toHaveLength(1);
  });

  test.each(['add', 'page'] as const)('is found damaged by %s is thrown away and filled anew', async (method) => {
    await fixture.publish(...many(400));
    const first = fixture.follow();
    await shows(first, 400);
    await fixture.restart([first]);
    const damaged = () => Promise.reject(new ViewUnsound('damaged'));
    let opens = 0;
    const open = fixture.between((view) => {
      opens += 1;
      if (opens > 1) return {};
      return method === 'add' ? { add: damaged } : { of: (accountId) => ({ ...view.of(accountId), page: damaged }) };
    });
    const view = fixture.follow({ open });
    if (method === 'page') expect(await shown(view)).toEqual([]);
    await fixture.publish(...many(10, 400));
    await shows(view, 410);
    expect([opens, fixture.warnings]).toEqual([2, [[undefined, expect.stringContaining('rebuilding')]]]);
  });
});

test('a thread that ends lets the view lag, and it is opened again', async () => {
  await fixture.publish(...many(10));
  let opens = 0;
  const open = fixture.between((view) => {
    opens += 1;
    const add = async () => {
      await view.close();
      throw new ViewEnded('the thread of the view has ended');
    };
    return opens === 1 ? { add } : {};
  });
  await shows(fixture.follow({ open }), 10);
  expect([opens, fixture.warnings]).toEqual([2, [['its thread has ended', expect.stringContaining('lags')]]]);
});

test('close is fulfilled once a view that was being opened is closed', async () => {
  let isClosed = false;
  const open = fixture.between((view) => ({
    close: async () => {
      await view.close();
      isClosed = true;
    },
  }));
  await fixture.follow({ open }).close();
  expect(isClosed).toBe(true);
});
