import type { DeliveriesView } from '../../src/ports/deliveries-view.js';
import { eventually } from '../support/clocks/eventually.js';
import {
  delivered,
  delivery,
  many,
  retrying,
  shown,
  shows,
  ViewFollowerFixture,
} from '../support/scenes/view-follower-fixture.js';

let fixture: ViewFollowerFixture;
beforeEach(() => {
  fixture = new ViewFollowerFixture();
});
afterEach(() => fixture.close());

describe('a view that follows the topic', () => {
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
