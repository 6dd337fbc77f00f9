import { toCancellation, toRequest } from '../../src/delivery/again/request.js';
import type { Broker } from '../../src/ports/broker.js';
import { TopicRecreated } from '../../src/ports/broker.js';
import { type AskView, ViewUnsound } from '../../src/ports/deliveries-view.js';
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
