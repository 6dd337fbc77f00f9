import { randomUUID } from 'node:crypto';
import { Admission } from '../../src/http/admission.js';
import type { EventStore, NewEvent } from '../../src/ports/event-store.js';
import { enveloped } from '../../src/webhooks/envelope.js';
import { accountStream } from '../../src/webhooks/events.js';
import type { Client } from '../support/clients/api-client.js';
import { opened } from '../support/clients/portal-session.js';
import { AT, added, CONTEXT } from '../support/generators/webhook-samples.js';
import { accountForEachTest } from '../support/scenes/api-fixture.js';
import { type BareApi, startBareApi } from '../support/scenes/bare-api.js';
import { bound } from '../support/servers/bound-store.js';

interface Page {
  readonly events: readonly {
    readonly at: string | null;
    readonly type: string;
    readonly details: object;
    readonly changes: string;
  }[];
  readonly next: string | null;
}

const page = async (by: Client, query = '') => (await by.send<Page>('GET', `/api/history${query}`)).body;

describe('the history of an account', () => {
  let client: Client;

  accountForEachTest((own) => {
    client = own;
  });

  it('says who changed what, newest first, and shows no value that is secret', async () => {
    const { clientId } = client.credential;
    const headers = [{ key: 'X-Api-Key', value: 'hidden-value' }];
    const body = { url: 'https://localhost/a', eventType: 'cash_in', headers };
    await client.post(body);
    await client.post(body, { 'idempotency-key': 'k' });
    const id = (await client.list()).webhooks[0]?.id ?? 0;
    await client.patch(id, { isActive: false });
    await client.patch(id, { isActive: true });
    await client.send('POST', '/api/signing-secrets');
    const session = await opened(client, { user: 'maria', can: ['read', 'resend'] });
    await client.send('DELETE', `/api/portal-sessions/${session.id}`);
    await client.remove(id);

    const { events, next } = await page(client);
    const changes = [
      ['WebhookRemoved', id, 'webhook removed'],
      ['PortalSessionEnded', null, `portal session ended: sessionId ${session.id}`],
      [
        'PortalSessionOpened',
        null,
        expect.stringContaining(`sessionId ${session.id}; user maria; can read resend; until `),
      ],
      ['SigningSecretIssued', null, 'signing secret issued'],
      ['WebhookActivated', id, 'webhook activated'],
      ['WebhookDeactivated', id, 'webhook deactivated: reason paused'],
      ['IdempotencyKeyUsed', id, 'idempotency key used'],
      [
        'WebhookAdded',
        id,
        'webhook added: after eventType cash_in, url https://localhost/a, headers X-Api-Key; headersChanged true',
      ],
    ].map(([type, webhookId, text]) => ({
      ...{ at: expect.stringMatching(/Z$/), actor: clientId, type, webhookId },
      ...{ details: expect.any(Object), changes: text },
    }));
    expect(events.slice(0, -3)).toEqual(changes);
    const of = (type: string) => events.find((event) => event.type === type)?.details;
    expect(of('WebhookAdded')).toEqual({
      before: null,
      after: { eventType: 'cash_in', url: 'https://localhost/a', headers: ['X-Api-Key'] },
      headersChanged: true,
    });
    expect(of('WebhookDeactivated')).toEqual({ reason: 'paused' });
    expect(of('PortalSessionOpened')).toMatchObject({ sessionId: session.id, user: 'maria', can: ['read', 'resend'] });
    expect(events.slice(-3).map(({ changes: text }) => text)).toEqual([
      'signing secret issued',
      `credential issued: clientId ${clientId}`,
      'account registered',
    ]);
    expect(next).toBeNull();
    expect(JSON.stringify(events)).not.toMatch(/hidden-value|v1[.]|whsec_|[0-9a-f]{64}/);
  });

  it('comes page by page, without a gap or a repetition; it is empty before its first event', async () => {
    for (let count = 0; count < 4; count += 1) await client.send('POST', '/api/signing-secrets');
    const all = (await page(client)).events;
    expect(all).toHaveLength(7);
    const seen: Page['events'][number][] = [];
    for (let before: string | null = '999999'; before !== null; ) {
      const { events, next }: Page = await page(client, `?limit=3&before=${before}`);
      expect(events.length).toBeLessThanOrEqual(3);
      seen.push(...events);
      before = next;
    }
    expect(seen).toEqual(all);
    expect(await page(client, '?before=0')).toEqual({ events: [], next: null });
  });

  it('is filtered by actor, type and time', async () => {
    await client.post({ url: 'https://localhost/a', eventType: 'cash_in' });
    await client.send('POST', '/api/signing-secrets');
    const [secret, addition, ...before] = (await page(client)).events;
    const of = async (filter: string) => (await page(client, `?${filter}`)).events;
    const at = encodeURIComponent(addition?.at ?? '');
    expect(await of(`actor=${client.credential.clientId}`)).toEqual([secret, addition]);
    expect(await of('type=WebhookAdded')).toEqual([addition]);
    expect(await of('type=WebhookAdded&actor=nobody')).toEqual([]);
    expect(await of(`to=${at}`)).toEqual(before);
    expect(await of(`from=${at}&type=SigningSecretIssued`)).toEqual([secret]);
  });
});

describe('what a page reads', () => {
  let bare: BareApi;
  let reads: number[];
  const start = async (admission?: Admission) => {
    reads = [];
    const between = (store: EventStore): EventStore => ({
      ...bound(store),
      async *read(stream, from) {
        for await (const event of store.read(stream, from)) {
          reads.push(event.revision);
          yield event;
        }
      },
    });
    bare = await startBareApi({ between, parts: admission ? { admission } : {} });
    return bare.client();
  };
  afterEach(() => bare.close());

  it('is charged, not only what it shows: an account can not make others wait by reading large events', async () => {
    let time = 0;
    const client = await start(new Admission({ msPerMinute: 1, now: () => time }));
    const large = added(7, { headers: [{ key: 'X-A', sealed: 'x'.repeat(400 * 1024) }] });
    await bare.store.append(accountStream(42), enveloped([large], CONTEXT, randomUUID), 0);
    const ask = async () => (await client.send('GET', '/api/history')).status;
    expect([await ask(), await ask()]).toEqual([200, 429]);
    time += 600_000;
    expect(await ask()).toBe(200);
  });

  it('are only the events that it shows, of a type that is not known too; with a filter 1,000 of them', async () => {
    const client = await start();
    const event = () => ({ id: randomUUID(), type: 'OfALaterRelease', data: { doneAt: AT }, metadata: {} });
    await bare.store.append(accountStream(42), Array.from({ length: 1_000 }, event), 0);
    const unknown = {
      at: AT,
      actor: null,
      type: 'OfALaterRelease',
      webhookId: null,
      details: {},
      changes: 'of a later release',
    };
    const get = (query: string) => client.send('GET', `/api/history${query}`);
    reads = [];
    expect((await get('?limit=2&before=500')).body).toEqual({ events: [unknown, unknown], next: '498' });
    expect(reads).toEqual([498, 499]);
    const type = 'AccountRegistered';
    expect((await get(`?type=${type}`)).body).toEqual({ events: [], next: '1' });
    expect((await get(`?type=${type}&before=1`)).body).toMatchObject({ events: [{ type }], next: null });
  });

  it('leaves out what ours never has: fields of another type, and metadata that is nested deeply', async () => {
    const client = await start();
    const nested = (levels: number) => JSON.parse('['.repeat(levels) + ']'.repeat(levels));
    const url = 'https://shop.example.com/7';
    const updated = { ...added(7).data, updatedAt: AT };
    const data: readonly (readonly [type: string, data: object])[] = [
      ['WebhookAdded', added(7).data],
      ['WebhookUpdated', { ...updated, replaced: { url: nested(200), headers: 5, headersChanged: nested(200) } }],
      ['WebhookUpdated', { ...updated, replaced: { url, headers: [{ key: nested(9) }], headersChanged: true } }],
      ['WebhookDeactivated', { webhookId: 7, reason: '', by: {}, since: nested(200), deactivatedAt: AT }],
      ['EndpointFailing', { endpoint: url, since: 'x', deactivatesAt: nested(200), notedAt: AT }],
    ];
    const events = data.map(([type, each]) => ({ id: randomUUID(), type, data: { ...each }, metadata: {} }));
    await bare.store.append(accountStream(42), events, 0);
    const deep = { ...events[4], id: randomUUID(), metadata: { actor: 'a', idempotency: { webhooks: nested(3_000) } } };
    await bare.store.append(accountStream(42), [deep as NewEvent], 5);
    const { status, body } = await client.send<Page>('GET', '/api/history?limit=6');
    expect(status).toBe(200);
    const after = { eventType: 'cash_in', url, headers: [] };
    expect(body.events.map(({ details }) => details)).toEqual([
      { url },
      { url },
      { reason: 'failing' },
      { after, headersChanged: true },
      { after },
      { before: null, after, headersChanged: false },
    ]);
    expect(body.events.map(({ changes }) => changes)).toContain(`endpoint failing: url ${url}`);
  });
});
