import { randomUUID } from 'node:crypto';
import { Admission } from '../../src/http/admission.js';
import { enveloped } from '../../src/webhooks/envelope.js';
import { accountStream } from '../../src/webhooks/events.js';
import type { Client } from '../support/clients/api-client.js';
import { opened } from '../support/clients/portal-session.js';
import { added, CONTEXT } from '../support/generators/webhook-samples.js';
import { type RunningApi, startApi } from '../support/scenes/api-fixture.js';
import { type BareApi, startBareApi } from '../support/scenes/bare-api.js';

interface Page {
  readonly events: readonly {
    readonly at: string | null;
    readonly type: string;
    readonly details: object;
    readonly changes: string;
  }[];
  readonly next: string | null;
}

let api: RunningApi;
let client: Client;

beforeAll(async () => {
  api = await startApi();
  client = await api.account(42);
});

afterAll(() => api.close());

const page = async (query = '', by = client) => (await by.send('GET', `/api/history${query}`)).body as unknown as Page;

describe('the history of an account', () => {
  it('says who changed what, newest first, and shows no value that is secret', async () => {
    const account = await api.account(43);
    const { clientId } = account.credential;
    const body = {
      url: 'https://localhost/a',
      eventType: 'cash_in',
      headers: [{ key: 'X-Api-Key', value: 'hidden-value' }],
    };
    await account.post(body);
    await account.post(body, { 'idempotency-key': 'k' });
    const id = (await account.list()).webhooks[0]?.id ?? 0;
    await account.patch(id, { isActive: false });
    await account.patch(id, { isActive: true });
    await account.send('POST', '/api/signing-secrets');
    const session = await opened(account, { user: 'maria', can: ['read', 'resend'] });
    await account.send('DELETE', `/api/portal-sessions/${session.id}`);
    await account.remove(id);

    const { events, next } = await page('', account);
    const changes = [
      ['WebhookRemoved', id, 'removed'],
      ['PortalSessionEnded', null, `session ${session.id} ended`],
      ['PortalSessionOpened', null, `session ${session.id} opened for maria: read, resend until ${session.expiresAt}`],
      ['SigningSecretIssued', null, 'signing secret issued'],
      ['WebhookActivated', id, 'activated'],
      ['WebhookDeactivated', id, 'deactivated: deactivated by the account'],
      ['IdempotencyKeyUsed', id, 'registered again without a change'],
      ['WebhookAdded', id, 'added: cash_in https://localhost/a v1, headers X-Api-Key'],
    ].map(([type, webhookId, text]) => ({
      at: expect.stringMatching(/Z$/),
      actor: clientId,
      type,
      webhookId,
      details: expect.any(Object),
      changes: text,
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
      `credential ${clientId} issued`,
      'account 43 registered',
    ]);
    expect(next).toBeNull();
    expect(JSON.stringify(events)).not.toMatch(/hidden-value|v1[.]|whsec_|[0-9a-f]{64}/);
  });

  it('comes page by page, without a gap or a repetition', async () => {
    for (let count = 0; count < 4; count += 1) await client.send('POST', '/api/signing-secrets');
    const all = (await page()).events;
    expect(all).toHaveLength(7);
    const seen: Page['events'][number][] = [];
    let before = '';
    do {
      const { events, next } = await page(`?limit=3${before}`);
      expect(events.length).toBeLessThanOrEqual(3);
      seen.push(...events);
      before = next === null ? '' : `&before=${next}`;
    } while (before);
    expect(seen).toEqual(all);
  });

  it('is empty before its first event, and whole after its last', async () => {
    expect(await page('?before=0')).toEqual({ events: [], next: null });
    expect((await page('?before=999999')).events).toEqual((await page()).events);
  });

  it.each(['-1', 'x', '01', ''])('goes on before no revision like "%s"', async (before) => {
    const { status, body } = await client.send('GET', `/api/history?before=${before}`);
    expect({ status, errors: body.errors }).toMatchObject({ status: 400, errors: [{ field: 'before' }] });
  });

  it('is filtered by actor, type and time', async () => {
    const account = await api.account(45);
    await account.post({ url: 'https://localhost/a', eventType: 'cash_in' });
    await account.send('POST', '/api/signing-secrets');
    const all = (await page('', account)).events;
    const [secret, addition, ...before] = all;
    const of = async (filter: string) => (await page(`?${filter}`, account)).events;
    const at = encodeURIComponent(addition?.at ?? '');
    expect(await of(`actor=${account.credential.clientId}`)).toEqual([secret, addition]);
    expect(await of('type=WebhookAdded')).toEqual([addition]);
    expect(await of(`type=WebhookAdded&actor=nobody`)).toEqual([]);
    expect(await of(`to=${at}`)).toEqual(before);
    expect(await of(`from=${at}&type=SigningSecretIssued`)).toEqual([secret]);
  });

  it('is its own: another account sees nothing of it', async () => {
    const stranger = await api.account(44);
    expect((await page('', stranger)).events.map(({ changes }) => changes)).toEqual([
      'signing secret issued',
      `credential ${stranger.credential.clientId} issued`,
      'account 44 registered',
    ]);
  });
});

it('what a page reads is charged, not only what it shows: an account can not make others wait by reading large events', async () => {
  let time = 0;
  const admission = new Admission({ msPerMinute: 1, now: () => time });
  const bare = await startBareApi({ parts: { admission } });
  try {
    const headers = [{ key: 'X-A', sealed: 'x'.repeat(1024 * 1024) }];
    const large = { type: 'WebhookAdded', data: added(7, { headers }).data } as const;
    await bare.store.append(accountStream(42), enveloped([large], CONTEXT, randomUUID), 0);
    const ask = async () => {
      return (await fetch(`${bare.url}/api/history`, { headers: { authorization: 'Bearer caller-42' } })).status;
    };
    expect([await ask(), await ask()]).toEqual([200, 429]);
    time += 600_000;
    expect(await ask()).toBe(200);
  } finally {
    await bare.close();
  }
});

describe('of a long history', () => {
  let bare: BareApi;
  let reads: number[];

  beforeAll(async () => {
    reads = [];
    bare = await startBareApi({
      between: (store) =>
        ({
          ...store,
          append: (...given) => store.append(...given),
          async *read(stream, from) {
            for await (const event of store.read(stream, from)) {
              reads.push(event.revision);
              yield event;
            }
          },
        }) as typeof store,
    });
    const event = () => ({ id: randomUUID(), type: 'OfALaterRelease', data: { doneAt: 'then' }, metadata: {} });
    await bare.store.append(accountStream(42), Array.from({ length: 1_000 }, event), 0);
  });

  afterAll(() => bare.close());

  it('a page reads only the events that it shows, and an unknown one does not stop it', async () => {
    const headers = { authorization: 'Bearer caller-42' };
    const response = await fetch(`${bare.url}/api/history?limit=2&before=500`, { headers });
    const unknown = { at: 'then', actor: null, type: 'OfALaterRelease', webhookId: null, details: {}, changes: '' };
    expect(await response.json()).toEqual({ events: [unknown, unknown], next: '498' });
    expect(reads).toEqual([498, 499]);
  });

  it('a page with a filter looks at 1,000 changes, and the next one goes on', async () => {
    const headers = { authorization: 'Bearer caller-42' };
    const ask = async (query: string) =>
      (await fetch(`${bare.url}/api/history?type=AccountRegistered${query}`, { headers })).json();
    expect(await ask('')).toEqual({ events: [], next: '1' });
    expect(await ask('&before=1')).toMatchObject({ events: [{ type: 'AccountRegistered' }], next: null });
  });
});
