import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { type Broker, BrokerUnavailable, type Consumer } from '../../../src/ports/broker.js';
import { type DeliveriesView, type ViewEntry, ViewUnsound } from '../../../src/ports/deliveries-view.js';
import { eventually } from '../../support/eventually.js';
import { many, shown, shows, ViewFollowerFixture } from '../../support/view-follower-fixture.js';

let fixture: ViewFollowerFixture;
beforeEach(() => {
  fixture = new ViewFollowerFixture();
});
afterEach(() => fixture.close());

describe('a broker that is out of reach', () => {
  const down = async (): Promise<Consumer> => {
    throw new BrokerUnavailable('down');
  };

  test('at the start is waited for, and said once; answers are what there is', async () => {
    await fixture.publish(...many(10));
    const first = fixture.follow();
    await shows(first, 10);
    await fixture.restart([first]);
    await fixture.publish(...many(10, 10));
    let tries = 0;
    const consume: Broker['consume'] = (options) => {
      tries += 1;
      return tries < 3 ? down() : fixture.broker.consume(options);
    };
    const view = fixture.follow({ broker: { consume } });
    expect(shown(view)).toHaveLength(10);
    await shows(view, 20);
    expect([tries, fixture.warnings]).toEqual([3, [['the broker is unavailable', expect.stringContaining('lags')]]]);
  });

  test('later, for good as its client says: another consumer follows', async () => {
    let die: (error: Error) => void = () => undefined;
    let tries = 0;
    const consume: Broker['consume'] = async (options) => {
      tries += 1;
      const consumer = await fixture.broker.consume(options);
      if (tries > 1) return consumer;
      const closed = new Promise<void>((_, reject) => {
        die = (error) => void consumer.close().then(() => reject(error));
      });
      return {
        subscribe: (topics) => consumer.subscribe(topics),
        stop: () => consumer.stop(),
        close: () => consumer.close(),
        state: () => consumer.state(),
        closed,
      };
    };
    const view = fixture.follow({ broker: { consume } });
    await fixture.publish(...many(10));
    await shows(view, 10);
    die(new BrokerUnavailable('it died'));
    await fixture.publish(...many(10, 10));
    await shows(view, 20);
    expect(tries).toBe(2);
  });

  test('does not keep the view from closing: a consumer that comes too late is closed, and adds nothing', async () => {
    await fixture.publish(...many(10));
    let begin: () => void = () => undefined;
    const mayBegin = new Promise<void>((resolve) => {
      begin = resolve;
    });
    const consumers: Consumer[] = [];
    const consume: Broker['consume'] = async (options) => {
      await mayBegin;
      consumers.push(await fixture.broker.consume(options));
      return consumers[0] as Consumer;
    };
    const view = fixture.follow({ broker: { consume } });
    view.close();
    begin();
    const consumer = await eventually(() => consumers[0]);
    await consumer.closed;
    expect(shown(view)).toEqual([]);
    expect(shown(fixture.follow())).toEqual([]);
  });
});

describe('a file that', () => {
  const full = () => Object.assign(new Error('database or disk is full'), { code: 'SQLITE_FULL' });

  test('takes nothing lets the view lag: said once, answers are what there is, and nothing is lost', async () => {
    let isFull = false;
    let refused = 0;
    const add = (view: DeliveriesView) => (entries: readonly ViewEntry[]) => {
      if (isFull) {
        refused += 1;
        throw full();
      }
      view.add(entries);
    };
    const view = fixture.follow({ open: fixture.between((inner) => ({ add: add(inner) })) });
    await fixture.publish(...many(10));
    await shows(view, 10);
    isFull = true;
    await fixture.publish(...many(5_000, 10));
    await eventually(() => refused >= 3);
    expect(refused).toBe(3);
    expect(shown(view)).toHaveLength(10);
    expect(fixture.warnings).toEqual([['its file is not writable', expect.stringContaining('lags')]]);
    isFull = false;
    await shows(view, 5_010);
    expect(fixture.warnings).toHaveLength(1);
  });

  test('can not be opened is tried again; until then there is nothing to show', async () => {
    await fixture.publish(...many(10));
    let tries = 0;
    const open = () => {
      tries += 1;
      if (tries < 3) throw full();
      return fixture.open();
    };
    const view = fixture.follow({ open });
    expect(shown(view)).toEqual([]);
    await shows(view, 10);
    expect(fixture.warnings).toEqual([['its file is not writable', expect.stringContaining('lags')]]);
  });

  test.each(['add', 'page'] as const)('is found damaged by %s is thrown away and filled anew', async (method) => {
    await fixture.publish(...many(400));
    const first = fixture.follow();
    await shows(first, 400);
    await fixture.restart([first]);
    const damaged = (): never => {
      throw new ViewUnsound('damaged');
    };
    let opens = 0;
    const open = fixture.between(() => {
      opens += 1;
      return opens === 1 ? { [method]: damaged } : {};
    });
    const view = fixture.follow({ open });
    if (method === 'page') expect(shown(view)).toEqual([]);
    await fixture.publish(...many(10, 400));
    await shows(view, 410);
    expect([opens, fixture.warnings]).toEqual([2, [[undefined, expect.stringContaining('rebuilding')]]]);
  });

  test('can not be removed is closed all the same, and opened again', async () => {
    await fixture.publish(...many(10));
    let opens = 0;
    const unsound = (view: DeliveriesView): Partial<DeliveriesView> => ({
      add: () => {
        throw new ViewUnsound('damaged');
      },
      discard: () => {
        view.close();
        throw full();
      },
    });
    const open = fixture.between((view) => {
      opens += 1;
      return opens === 1 ? unsound(view) : {};
    });
    await shows(fixture.follow({ open }), 10);
    expect(opens).toBe(2);
  });
});
