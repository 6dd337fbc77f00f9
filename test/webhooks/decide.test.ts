import { type RegisterWebhook, type UpdateWebhook, withRoomTaken } from '../../src/webhooks/decide.js';
import type { WebhookEvent } from '../../src/webhooks/events.js';
import type { EventType } from '../../src/webhooks/limits.js';
import { AT, added, LAST_FAILURE, register, registered } from '../support/generators/webhook-samples.js';
import { decisionOf, decisionOn, given, stateOf } from '../support/scenes/aggregate-spec.js';

const LATER = '2026-11-04T10:00:00.000Z';
const HEADERS = [{ key: 'X-Api-Key', sealed: 'v1.00000000.abc' }];

const deactivated = (webhookId: number) =>
  ({
    type: 'WebhookDeactivated',
    data: { webhookId, reason: '410 Gone', by: 'service', lastFailure: LAST_FAILURE, deactivatedAt: AT },
  }) as const;
const activated = (webhookId: number) =>
  ({ type: 'WebhookActivated', data: { webhookId, activatedAt: LATER } }) as const;
const removed = (webhookId: number) => ({ type: 'WebhookRemoved', data: { webhookId, removedAt: AT } }) as const;
const deactivate = (webhookId: number, version: number) =>
  ({ type: 'DeactivateWebhook', webhookId, version, reason: '410 Gone', lastFailure: LAST_FAILURE, at: AT }) as const;

/** The WebhookUpdated that register(path, { at: LATER, ... }) leads to. */
function updated(webhookId: number, path: string | number, version: number, headers: typeof HEADERS = []) {
  const url = `https://shop.example.com/${path}`;
  const data = { webhookId, eventType: 'cash_in', url, endpoint: url, headers, version, updatedAt: LATER } as const;
  return { type: 'WebhookUpdated', data } as const;
}

describe('RegisterWebhook', () => {
  it('of an account that was never registered is refused', () => {
    given().when(register(1)).thenRefused('account-not-found');
  });

  it('of a new URL adds it, with the id it was given, as version 1', () => {
    given(registered())
      .when(register(1, { newId: 7, headers: HEADERS }))
      .thenEvents(added(7, { ...urlOf(1), headers: HEADERS }));
  });

  it('of a known URL updates that entry: its id stays, its version grows, the headers replace the old ones', () => {
    given(registered(), added(1, { headers: HEADERS }), added(2))
      .when(register(1, { at: LATER }))
      .thenEvents(updated(1, 1, 2));
    given(registered(), added(1), updated(1, 1, 2))
      .when(register(1, { at: LATER, headers: HEADERS }))
      .thenEvents(updated(1, 1, 3, HEADERS));
  });

  describe('of a webhook that is as it is asked for', () => {
    const asked = { at: LATER, headers: HEADERS, isHeldBy: (kept: readonly unknown[]) => kept === HEADERS };
    const history = [registered(), added(1, { headers: HEADERS })];
    const failing = {
      type: 'EndpointFailing',
      data: {
        endpoint: 'https://shop.example.com/1',
        since: AT,
        deactivatesAt: null,
        lastFailure: LAST_FAILURE,
        notedAt: AT,
      },
    } as const;

    it('changes nothing', () => {
      given(...history)
        .when(register(1, asked))
        .thenUnchanged({ webhookId: 1, version: 1 });
    });

    it('but in another spelling, with other headers, inactive or failing, updates it', () => {
      const update = updated(1, 1, 2, HEADERS);
      const url = 'HTTPS://shop.example.com/1';
      given(...history)
        .when(register(1, { ...asked, url }))
        .thenEvents({ ...update, data: { ...update.data, url } });
      given(...history)
        .when(register(1, { ...asked, isHeldBy: () => false }))
        .thenEvents(update);
      given(...history, failing)
        .when(register(1, asked))
        .thenEvents(update);
      given(...history, deactivated(1))
        .when(register(1, asked))
        .thenEvents(update, activated(1));
    });
  });

  describe('of more than an account may hold', () => {
    const large = (sealed: number) => [{ key: 'X', sealed: 's'.repeat(sealed) }];
    const two = [registered(), added(1, { headers: large(500_000) }), added(2, { headers: large(500_000) })];

    it('is refused, as a new entry and as an update', () => {
      given(...two)
        .when(register(3, { headers: large(60_000) }))
        .thenRefused('account-too-large');
      given(...two)
        .when(register(2, { headers: large(560_000) }))
        .thenRefused('account-too-large');
    });

    it('is taken where it is just enough, and where an account that is larger already grows no further', () => {
      const free = 1024 * 1024 - 2 * (500_001 + 2 * 'https://shop.example.com/1'.length);
      const fits = large(free - 1 - 2 * 'https://shop.example.com/3'.length);
      expect(decisionOn(two, register(3, { headers: fits }))).toBe('accepted');
      expect(decisionOn(two, register(3, { headers: large((fits[0]?.sealed.length ?? 0) + 1) }))).toBe(
        'account-too-large',
      );
      const larger = [...two, added(3, { headers: large(400_000) })];
      expect(decisionOn(larger, register(3, { headers: large(400_000) }))).toBe('accepted');
      expect(decisionOn(larger, register(3, { headers: large(300_000) }))).toBe('accepted');
      expect(decisionOn(larger, register(3, { headers: large(400_001) }))).toBe('account-too-large');
    });
  });

  it('knows a URL by its endpoint, and keeps the spelling that was given last', () => {
    const url = 'HTTPS://Shop.Example.com:443/1';
    const { type, data } = updated(1, 1, 2);
    given(registered(), added(1))
      .when(register(1, { url, at: LATER }))
      .thenEvents({ type, data: { ...data, url } });
  });

  it('of the same URL for another type is a new entry', () => {
    given(registered(), added(1))
      .when(register(1, { eventType: 'cash_out', newId: 2 }))
      .thenEvents(added(2, { ...urlOf(1), eventType: 'cash_out' }));
  });

  it('of a fourth active URL is refused, of a third is not', () => {
    const three = [registered(), added(1), added(2), added(3)];
    given(...three)
      .when(register(4))
      .thenRefused('limit-reached');
    given(...three.slice(0, 3))
      .when(register(4, { newId: 4 }))
      .thenEvents(added(4));
  });

  it('beyond a hundred entries is refused, inactive ones counted; one that is there is updated', () => {
    const all = Array.from({ length: 100 }, (_, n) => n + 1);
    const full = [registered(), ...all.flatMap((n) => [added(n), deactivated(n)])];
    given(...full)
      .when(register(101))
      .thenRefused('account-full');
    given(...full.slice(0, -2))
      .when(register(101, { newId: 101 }))
      .thenEvents(added(101));
    given(...full, activated(5))
      .when(register(5, { at: LATER }))
      .thenEvents(updated(5, 5, 2));
  });

  it.each([
    ['inactive', deactivated(1)],
    ['removed', removed(1)],
  ])('counts no %s URL', (_, gone) => {
    given(registered(), added(1), added(2), added(3), gone)
      .when(register(4, { newId: 4 }))
      .thenEvents(added(4));
  });

  it('makes an inactive URL active again where there is room', () => {
    given(registered(), added(1), deactivated(1))
      .when(register(1, { at: LATER }))
      .thenEvents(updated(1, 1, 2), activated(1));
  });
});

describe('DeactivateWebhook', () => {
  it('deactivates the version it was decided on', () => {
    given(registered(), added(1)).when(deactivate(1, 1)).thenEvents(deactivated(1));
  });

  it.each([
    ['an unknown webhook', deactivate(2, 1), []],
    ['one that is inactive already', deactivate(1, 1), [deactivated(1)]],
    ['one that was updated since', deactivate(1, 1), [updated(1, 1, 2)]],
    ['one that was removed', deactivate(1, 1), [removed(1)]],
  ])('leaves %s alone', (_, command, since) => {
    given(registered(), added(1), ...since)
      .when(command)
      .thenEvents();
  });
});

describe('UpdateWebhook', () => {
  const byAccount = (webhookId: number) =>
    ({
      type: 'WebhookDeactivated',
      data: { webhookId, reason: 'deactivated by the account', deactivatedAt: LATER },
    }) as const;
  const set = (webhookId: number, isActive: boolean) =>
    ({ type: 'UpdateWebhook', webhookId, isActive, at: LATER }) as const;

  it('deactivates and activates', () => {
    given(registered(), added(1)).when(set(1, false)).thenEvents(byAccount(1));
    given(registered(), added(1), deactivated(1)).when(set(1, true)).thenEvents(activated(1));
  });

  it('takes over what the service switched off: no delivery is held for it from now on', () => {
    given(registered(), added(1), deactivated(1)).when(set(1, false)).thenEvents(byAccount(1));
    given(registered(), added(1), deactivated(1), byAccount(1)).when(set(1, false)).thenEvents();
  });

  it('changes nothing where it is so already', () => {
    given(registered(), added(1)).when(set(1, true)).thenEvents();
    given(registered(), added(1), byAccount(1)).when(set(1, false)).thenEvents();
  });

  describe('to another URL or other headers', () => {
    const path = (n: string | number) => ({
      url: `https://shop.example.com/${n}`,
      endpoint: `https://shop.example.com/${n}`,
    });
    const change = (changes: Partial<UpdateWebhook>) =>
      ({ type: 'UpdateWebhook', webhookId: 1, at: LATER, ...changes }) as const;
    const other = [{ key: 'X-Api-Key', sealed: 'v1.00000000.def' }];
    const history = [registered(), added(1, { headers: HEADERS })];

    it('keeps the id, counts the version on, and keeps the headers that are not given', () => {
      given(...history)
        .when(change(path('new')))
        .thenEvents(updated(1, 'new', 2, HEADERS));
      given(...history)
        .when(change({ ...path('new'), headers: [] }))
        .thenEvents(updated(1, 'new', 2, []));
    });

    it('keeps the URL where only headers are given', () => {
      given(...history)
        .when(change({ headers: other, isHeldBy: () => false }))
        .thenEvents(updated(1, 1, 2, other));
    });

    it('is one decision with the activation or the deactivation', () => {
      given(...history, deactivated(1))
        .when(change({ ...path('new'), isActive: true }))
        .thenEvents(updated(1, 'new', 2, HEADERS), activated(1));
      given(...history)
        .when(change({ ...path('new'), isActive: false }))
        .thenEvents(updated(1, 'new', 2, HEADERS), byAccount(1));
    });

    it('leaves an inactive webhook inactive, and who switched it off', () => {
      given(...history, deactivated(1))
        .when(change(path('new')))
        .thenEvents(updated(1, 'new', 2, HEADERS));
    });

    it('that another webhook of the type has is refused, active or not; of another type, or removed, it is free', () => {
      given(...history, added(2))
        .when(change(path(2)))
        .thenRefused('url-taken');
      given(...history, added(2), deactivated(2))
        .when(change({ url: 'HTTPS://shop.example.com:443/2', endpoint: path(2).endpoint }))
        .thenRefused('url-taken');
      given(...history, added(2, { eventType: 'cash_out' }), added(3), removed(3))
        .when(change(path(2)))
        .thenEvents(updated(1, 2, 2, HEADERS));
      given(...history, added(3), removed(3))
        .when(change(path(3)))
        .thenEvents(updated(1, 3, 2, HEADERS));
    });

    it('to what it is already changes nothing, but where the URL is noted to fail', () => {
      const { endpoint } = path(1);
      const failed = { endpoint, since: AT, deactivatesAt: null, lastFailure: LAST_FAILURE, notedAt: AT };
      given(...history)
        .when(change({ ...path(1), headers: HEADERS, isHeldBy: () => true }))
        .thenEvents();
      given(...history, { type: 'EndpointFailing', data: failed })
        .when(change(path(1)))
        .thenEvents(updated(1, 1, 2, HEADERS));
    });

    it('beyond the size of an account is refused', () => {
      const large = [{ key: 'X', sealed: 's'.repeat(1024 * 1024) }];
      given(...history)
        .when(change({ headers: large, isHeldBy: () => false }))
        .thenRefused('account-too-large');
    });
  });

  it('to active over the limit is refused, and changes nothing where three with it are active', () => {
    const full = [registered(), added(1), deactivated(1), added(2), added(3), added(4)];
    given(...full)
      .when(set(1, true))
      .thenRefused('limit-reached');
    given(...full)
      .when(set(4, true))
      .thenEvents();
  });

  it.each([
    ['unknown', []],
    ['removed', [added(1), removed(1)]],
  ])('of a webhook that is %s is refused', (_, since) => {
    given(registered(), ...since)
      .when(set(1, true))
      .thenRefused('webhook-not-found');
  });
});

describe('RemoveWebhook', () => {
  const remove = (webhookId: number) => ({ type: 'RemoveWebhook', webhookId, at: AT }) as const;

  it('removes it, active or not, once', () => {
    given(registered(), added(1)).when(remove(1)).thenEvents(removed(1));
    given(registered(), added(1), deactivated(1)).when(remove(1)).thenEvents(removed(1));
    given(registered(), added(1), removed(1)).when(remove(1)).thenRefused('webhook-not-found');
  });
});

function urlOf(path: number) {
  const url = `https://shop.example.com/${path}`;
  return { url, endpoint: url };
}

describe('RegisterWebhooks', () => {
  const several = (...registrations: RegisterWebhook[]) => ({ type: 'RegisterWebhooks', registrations }) as const;
  const at = (eventType: EventType, newId: number) => register(1, { eventType, newId, at: LATER });
  const both = several(at('cash_in', 207), at('cash_out', 208));

  it('adds what is new and updates what is there, in the order asked', () => {
    given(registered(), added(1))
      .when(both)
      .thenEvents(updated(1, 1, 2), added(208, { ...urlOf(1), eventType: 'cash_out', createdAt: LATER }));
  });

  it('is refused as a whole, and names the type that has no room', () => {
    const full = [2, 3, 4].map((id) => added(id, { eventType: 'cash_out' }));
    const decision = decisionOf([registered(), ...full], both);
    expect(decision).toMatchObject({ kind: 'limit-reached', eventType: 'cash_out' });
  });

  it('counts those before each of it towards the limit of the account', () => {
    const off = Array.from({ length: 99 }, (_, n) => [added(n + 2), deactivated(n + 2)]).flat();
    given(registered(), ...off)
      .when(several(at('cash_in', 207)))
      .thenEvents(added(207, { ...urlOf(1), createdAt: LATER }));
    given(registered(), ...off)
      .when(both)
      .thenRefused('account-full');
  });
});

test('an update says what it replaced, of headers the names and whether one or its value changed', () => {
  const replaced = (change: Partial<RegisterWebhook>) => {
    const history = [registered(), added(1, { headers: HEADERS })];
    const decision = decisionOf(history, register(1, { at: LATER, headers: HEADERS, ...change }));
    return decision.kind === 'accepted' && decision.events.map(({ data }) => data);
  };
  const before = { url: urlOf(1).url, headers: HEADERS.map(({ key }) => key) };
  expect(replaced({})).toMatchObject([{ replaced: { ...before, headersChanged: true } }]);
  const respelled = { url: 'HTTPS://shop.example.com/1', isHeldBy: () => true };
  expect(replaced(respelled)).toMatchObject([{ replaced: { ...before, headersChanged: false } }]);
});

describe('MoveWebhooks', () => {
  const move = (from: number, to: number) =>
    ({ type: 'MoveWebhooks', from: urlOf(from).endpoint, ...urlOf(to), at: LATER }) as const;
  const ofType = (id: number, eventType: EventType, of: number) => added(id, { ...urlOf(of), eventType });

  it('changes the URL of every webhook that has it, active or not, and nothing else of them', () => {
    const data = { ...updated(2, 9, 2, HEADERS).data, eventType: 'cash_out' } as const;
    given(
      ...[registered(), added(1), added(3), deactivated(1)],
      added(2, { ...urlOf(1), eventType: 'cash_out', headers: HEADERS }),
    )
      .when(move(1, 9))
      .thenEvents(updated(1, 9, 2), { type: 'WebhookUpdated', data });
  });

  it('moves none where another webhook of one of the types has the URL', () => {
    const history = [registered(), added(1), ofType(2, 'cash_out', 1), ofType(3, 'cash_out', 9)];
    expect(decisionOf(history, move(1, 9))).toEqual({ kind: 'url-taken', field: 'url', params: { webhookId: 3 } });
  });

  it('of a URL that no webhook has is refused', () => {
    given(registered(), added(1)).when(move(2, 9)).thenRefused('webhook-not-found');
  });
});

/** Called directly: one decision has no two commands for one type, so no decision depends on an interim `isActive`. */
describe('the state between two commands of one decision', () => {
  const history = [registered(), added(1), added(2), deactivated(2)];
  const room = (...events: WebhookEvent[]) => {
    const { webhooks } = withRoomTaken(stateOf(history), events);
    return webhooks.map(({ id, url, isActive }) => ({ id, url, isActive })).sort((a, b) => a.id - b.id);
  };
  const [first, second] = [
    { id: 1, url: urlOf(1).url, isActive: true },
    { id: 2, url: urlOf(2).url, isActive: false },
  ] as const;

  it('keeps an inactive webhook inactive that was moved, and an active one active', () => {
    expect(room(updated(2, 9, 2))).toEqual([first, { ...second, url: urlOf(9).url }]);
    expect(room(updated(1, 9, 2))).toEqual([{ ...first, url: urlOf(9).url }, second]);
  });

  it('has a webhook active that was moved and activated, or added', () => {
    expect(room(updated(2, 9, 2), activated(2))).toEqual([first, { id: 2, url: urlOf(9).url, isActive: true }]);
    expect(room(added(3))).toEqual([first, second, { id: 3, url: urlOf(3).url, isActive: true }]);
  });

  it('is the folded state, for every order of the events of a move', () => {
    for (const events of [
      [updated(1, 8, 2), updated(2, 9, 2)],
      [updated(2, 9, 2), activated(2), updated(1, 8, 2)],
    ]) {
      const folded = stateOf([...history, ...events]).webhooks.map(({ id, url, isActive }) => ({ id, url, isActive }));
      expect(room(...events)).toEqual(folded);
    }
  });
});
