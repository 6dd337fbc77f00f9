import { toCancellation, toRequest } from '../../src/delivery/again/request.js';
import type { Broker } from '../../src/ports/broker.js';
import { TopicRecreated } from '../../src/ports/broker.js';
import { type AskView, type DeliveriesView, ViewUnsound } from '../../src/ports/deliveries-view.js';
import { eventually } from '../support/clocks/eventually.js';
import { ACCOUNT } from '../support/generators/delivery-samples.js';
import {
  delivered,
  delivery,
  many,
  retrying,
  shown,
  shows,
  TOPICS,
  ViewFollowerFixture,
} from '../support/scenes/view-follower-fixture.js';

let fixture: ViewFollowerFixture;
beforeEach(() => {
  fixture = new ViewFollowerFixture();
});
afterEach(() => fixture.close());

const asked = (n: number, recovery: string) => toRequest(delivery(n), { trigger: 'recover', actor: 'ana', recovery });
const outcomes = async (view: AskView) => (await shown(view)).map(({ id, outcome }) => `${id} ${outcome}`);
const idOf = (view: AskView) => view.ask(ACCOUNT, async ({ viewId }) => viewId);

/** The broker, where one topic is followed otherwise. */
function following(topic: string, follow: Broker['follow']) {
  const otherwise: Broker['follow'] = (...from) =>
    from[0] === topic ? follow(...from) : fixture.broker.follow(...from);
  return {
    ensureTopics: (topics: readonly string[]) => fixture.broker.ensureTopics(topics),
    extent: (of: string) => fixture.broker.extent(of),
    follow: otherwise,
  };
}

/** Follows a topic once `release` was called. */
function held(topic: string) {
  let release: () => void = () => undefined;
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  const broker = following(topic, async function* (...from) {
    await released;
    yield* fixture.broker.follow(...from);
  });
  return { broker, release };
}

describe('the requests topic', () => {
  test('is followed beside the other one: what is requested waits, and what is cancelled has ended', async () => {
    await fixture.publish(retrying(delivery(1)), ...many(1, 2));
    await fixture.request(asked(2, 'r'));
    const view = fixture.follow();
    await shows(view, 2);
    await eventually(() => view.ask(ACCOUNT, async (one) => (await one.recovery('r')).sent === 1));
    const of = (n: number) => view.ask(ACCOUNT, (one) => one.publications(delivery(n).id));
    expect(await of(2)).toMatchObject([{ outcome: 'delivered', requests: 1, sentAgain: true }]);
    const [first] = (await of(1)) ?? [];
    if (!first) throw new Error('it is not shown');
    await fixture.request(toCancellation([first], 'ana'), asked(3, 'r'));
    await eventually(
      async () => (await outcomes(view)).join() === 'msg_00003 retrying,msg_00002 delivered,msg_00001 cancelled',
    );
    const { consumer } = view.state();
    expect(consumer?.partitions.map(({ topic }) => topic).sort()).toEqual(Object.values(TOPICS));
  });

  test.each(Object.entries(TOPICS))('a view is rebuilt where %s is another topic by now', async (_, topic) => {
    let isRecreated = false;
    const broker = following(topic, async function* (...from) {
      for await (const page of fixture.broker.follow(...from)) {
        if (isRecreated) {
          isRecreated = false;
          throw new TopicRecreated(topic);
        }
        yield page;
      }
    });
    await fixture.publish(...many(3));
    await fixture.request(asked(5, 'r'));
    const view = fixture.follow({ broker });
    await eventually(async () => (await shown(view)).length === 4 && view.isCaughtUp);
    const id = await idOf(view);
    isRecreated = true;
    await fixture.publish(delivered(delivery(3)));
    await fixture.request(asked(6, 'r'));
    await shows(view, 6);
    expect(await idOf(view)).not.toBe(id);
    expect(fixture.warnings).toEqual([[undefined, expect.stringContaining('rebuilding')]]);
  });
});

describe('a view has caught up', () => {
  test.each(Object.entries(TOPICS))('once it has what %s had when it was opened', async (name, topic) => {
    await fixture.publish(...many(3));
    await fixture.request(asked(5, 'r'));
    const { broker, release } = held(topic);
    let alone = 0;
    const open = fixture.between((own) => ({
      answerAlone() {
        alone += 1;
        return own.answerAlone();
      },
    }));
    const view = fixture.follow({ broker, open });
    expect(view.isCaughtUp).toBe(false);
    await shows(view, name === 'deliveries' ? 1 : 3);
    expect([await view.idBehind(new Map()), alone]).toEqual([null, 0]);
    expect([view.isCaughtUp, view.state()]).toEqual([false, { why: expect.stringContaining(name), consumer: null }]);
    release();
    await eventually(() => view.isCaughtUp);
    expect([(await shown(view)).length, view.state().why]).toEqual([4, null]);
    expect([await view.idBehind(new Map()), alone]).toEqual([await idOf(view), 1]);
  });

  test('no more once it is found unsound, until it is rebuilt', async () => {
    await fixture.publish(...many(3));
    const view = fixture.follow();
    await eventually(() => view.isCaughtUp);
    await view.ask(ACCOUNT, () => Promise.reject(new ViewUnsound('damaged')));
    expect(view.isCaughtUp).toBe(false);
    await eventually(() => view.isCaughtUp);
    expect(await shown(view)).toHaveLength(3);
  });
});

describe('a view that follows the topic', () => {
  test('shows what it has read, before that is stored with what follows', async () => {
    let taken = 0;
    const broker = following(TOPICS.deliveries, async function* (...from) {
      for await (const page of fixture.broker.follow(...from)) {
        yield page;
        taken += page.items.length;
      }
    });
    const view = fixture.follow({ broker });
    await shows(view, 0);
    await fixture.publish(...many(2));
    await eventually(() => taken === 2);
    expect(await shown(view)).toHaveLength(2);
  });

  test('shows what is in it, and what comes into it', async () => {
    await fixture.publish(...many(2_500), retrying(delivery(9_000)));
    const view = fixture.follow();
    await shows(view, 2_501);
    expect((await shown(view)).find(({ id }) => id === 'msg_09000')).toMatchObject({
      id: 'msg_09000',
      outcome: 'retrying',
      attempts: [{ at: '2026-11-21T09:00:00.000Z', status: 503, error: null, durationMs: 12, version: 1 }],
      nextAttemptAt: '2026-11-21T09:00:05.000Z',
      waitingFor: null,
    });
    await fixture.publish(delivered(delivery(9_000)), delivered(delivery(9_001)));
    await shows(view, 2_502);
    const after = (await shown(view)).find(({ id }) => id === 'msg_09000');
    expect(after).toMatchObject({ outcome: 'delivered', nextAttemptAt: null });
    expect(after?.attempts.map(({ status }) => status)).toEqual([503, 200]);
    expect(fixture.warnings).toEqual([]);
  });

  test('passes over what somebody else put there', async () => {
    const [good] = JSON.parse(String(delivered(delivery(1)).value)).deliveries;
    const wrong = [
      ...[{ id: 5 }, { id: '' }, { id: 'ä' }, { id: 'x'.repeat(129) }, { eventId: null }, { accountId: '42' }],
      ...[{ accountId: 1e300 }, { webhookId: 0.5 }, { outcome: 'lost' }, { nextAttemptAt: 'soon' }],
      { waitingFor: 'rain' },
      ...[{ nextAttemptAt: 5 }, { attempt: undefined }, { attempt: [] }, { attempt: { ...good.attempt, at: 5 } }],
      ...[{ attempt: { ...good.attempt, status: '200' } }, { attempt: { ...good.attempt, durationMs: -1 } }],
    ].map((change) => JSON.stringify({ deliveries: [{ ...good, id: 'msg_wrong', ...change }] }));
    const texts = ['', 'not JSON', 'null', '5', '"text"', '[]', '{}', '\u0000', 'x'.repeat(300_000), ...wrong];
    const values = [null, Buffer.from([0xff, 0xfe]), ...texts.map((text) => Buffer.from(text))];
    const later = { ...good, id: 'msg_later', added: true, attempt: { ...good.attempt, added: 1 } };
    await fixture.publish(...many(1), ...values.map((value) => ({ key: null, value, headers: [] })), ...many(1, 1));
    await fixture.publish({ key: null, value: Buffer.from(JSON.stringify({ deliveries: [later] })), headers: [] });
    const view = fixture.follow();
    await shows(view, 3);
    const fields = (await shown(view)).map(({ id, attempts }) => [id, Object.keys(attempts[0] ?? {}).length]);
    expect(Object.fromEntries(fields)).toEqual({ msg_00000: 5, msg_00001: 5, msg_later: 5 });
  });

  test('forgets what the topic does not keep any more', async () => {
    await fixture.publish(...many(10));
    const kept = fixture.follow({ lostBefore: () => Date.now() - 3_600_000 });
    await shows(kept, 10);
    await kept.close();
    let calls = 0;
    const forget = (view: DeliveriesView) => async (before: number) => {
      await view.forget(before);
      calls += 1;
    };
    const open = fixture.between((view) => ({ forget: forget(view) }));
    const old = fixture.follow({ lostBefore: () => Date.now() + 1, open });
    await fixture.publish(...many(1));
    await eventually(() => calls > 0);
    expect(await shown(old)).toEqual([]);
  });
});

describe('a view that is opened again', () => {
  test('goes on where it stood, and reads nothing twice', async () => {
    let read = 0;
    const add =
      (view: DeliveriesView) =>
      (...given: Parameters<DeliveriesView['add']>) => {
        read += given[0].length;
        return view.add(...given);
      };
    const open = fixture.between((view) => ({ add: add(view) }));
    await fixture.publish(...many(300));
    const first = fixture.follow({ open });
    await shows(first, 300);
    await fixture.publish(...many(20, 300));
    await fixture.restart([first]);
    await fixture.publish(...many(20, 320));
    await shows(fixture.follow({ open }), 340);
    expect(read).toBe(340);
  });
});
