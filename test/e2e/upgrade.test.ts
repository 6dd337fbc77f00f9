/** Today's service on what an earlier release left: see test/fixtures/data-dirs. */
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import {
  atPort443,
  type EarlierAccount,
  type EarlierDelivery,
  type Manifest,
  unpack,
} from '../support/earlier-data-dir.js';
import { eventually } from '../support/eventually.js';
import { commandLine } from '../support/in-process-cli.js';
import { type ReceivedRequest, type Receiver, startReceiver } from '../support/receiver.js';
import { type Service, type Settings, serve } from '../support/service.js';
import { installation, tokenFor } from '../support/story.js';

interface Answer {
  readonly webhooks: EarlierAccount['webhooks'];
  readonly deliveries: readonly EarlierDelivery[];
}

const WARNING = 40;
const PATIENCE = { timeout: 30_000 };
/** The webhook of this path is off, or removed. */
const OFF = ['/inactive', '/removed'];
/** `<event id> <path>`: it waited for its last attempt, which fails. */
const LAST = 'last-0 /other/failing';
/** `<event id> <path>`: a dead letter. */
const DEAD = 'dead-0 /other/failing';

jest.setTimeout(300_000);

const eventOf = ({ body }: ReceivedRequest) => (JSON.parse(String(body)) as { id: string }).id;
const placeOf = (request: ReceivedRequest) => `${eventOf(request)} ${request.path}`;
const linesOf = <T>(text: string) => text.split('\n').flatMap((line) => (line ? [JSON.parse(line) as T] : []));

describe.each(['killed', 'stopped'])('a DATA_DIR of 71751ca, whose service was %s', (ending) => {
  let receiver: Receiver;
  let settings: Settings;
  let manifest: Manifest;
  let remove: () => Promise<void>;
  let service: Service;

  beforeAll(async () => {
    const respond = (request: ReceivedRequest) => ({ status: placeOf(request) === LAST ? 503 : 200 });
    receiver = await startReceiver({ respond });
    const installed = await installation([receiver]);
    ({ remove } = installed);
    manifest = unpack(`71751ca-${ending}`, String(installed.settings.DATA_DIR));
    // What was published then is kept, however long ago that is.
    settings = { ...installed.settings, ...manifest.settings, BROKER_RETENTION: '0' };
    service = await serve({ ...settings, ...atPort443(receiver) });
  });
  afterAll(async () => {
    await service?.stop('SIGKILL');
    await receiver.close();
    await remove();
  });

  const deliveriesOf = async ({ accountId }: EarlierAccount) =>
    linesOf<EarlierDelivery>(
      (await commandLine(settings, ['deliveries', 'list', '--account', String(accountId), '--json'])).stdout,
    );
  const deliveries = async () => (await Promise.all(manifest.accounts.map(deliveriesOf))).flat();
  const attemptsOf = (some: Iterable<EarlierDelivery>) =>
    [...some].reduce((sum, { attempts }) => sum + attempts.length, 0);
  /** By their ids, when nothing waits any more and each request stands in the log. */
  const settled = () =>
    eventually(async () => {
      const now = new Map((await deliveries()).map((one) => [one.id, one]));
      const made = attemptsOf(now.values()) - attemptsOf(toldBefore());
      const isOver = ![...now.values()].some(({ outcome }) => outcome === 'retrying');
      return isOver && made === receiver.requests.length && now;
    }, PATIENCE);
  const toldBefore = () => manifest.accounts.flatMap((account) => account.deliveries);
  const pathOf = (webhookId: number) =>
    manifest.accounts
      .flatMap(({ webhooks }) => webhooks)
      .find(({ id }) => id === webhookId)
      ?.url.replace(/^.*localhost/, '');
  const request = async (account: EarlierAccount, path: string, init: RequestInit = {}) => {
    const headers = {
      authorization: `Bearer ${await tokenFor(service.url, account)}`,
      'content-type': 'application/json',
    };
    const response = await fetch(`${service.url}${path}`, { ...init, headers: { ...headers, ...init.headers } });
    return { status: response.status, body: (await response.json()) as Answer };
  };

  test('each payment reaches each URL that it is due to, as it was published, and none that is off', async () => {
    const due = Object.entries(manifest.due).flatMap(([id, urls]) =>
      urls.map((url) => `${id} ${new URL(url).pathname}`),
    );
    const open = due.filter(
      (place) => !OFF.some((path) => place.endsWith(path)) && place !== DEAD && !manifest.taken.includes(place),
    );
    expect(open).toEqual(expect.arrayContaining([...manifest.underWay, LAST]));
    const came = () => new Set(receiver.requests.map(placeOf));
    await eventually(() => open.every((place) => came().has(place)), { ...PATIENCE, message: 'not all came' });
    expect(receiver.requests.filter(({ path }) => OFF.includes(path))).toEqual([]);
    for (const request of receiver.requests) expect(String(request.body)).toBe(manifest.events[eventOf(request)]);
    for (const { headers, path } of receiver.requests) expect(headers['x-api-key']).toBe(`key of ${path}`);
  });

  test('what waited goes on with its count of attempts, under its webhook-id', async () => {
    const waited = toldBefore().filter(({ outcome }) => outcome === 'retrying');
    const now = await settled();
    const became = waited.map(({ id, eventId, webhookId, attempts }) => {
      const { outcome = '', attempts: all = [] } = now.get(id) ?? {};
      const later = all.slice(attempts.length).map(({ status }) => status);
      expect(all.slice(0, attempts.length)).toEqual(attempts);
      return `${eventId} ${pathOf(webhookId)}: ${attempts.length} and ${later.join()}, ${outcome}`;
    });
    const interrupted = manifest.underWay.map((place) => `${place}: 0 and 200, delivered`);
    expect(became.toSorted()).toEqual([
      'last-0 /other/failing: 1 and 503, exhausted',
      'late-0 /inactive: 1 and , cancelled',
      'late-0 undefined: 1 and , cancelled',
      // Of a service that was killed nothing says that they were under way.
      ...(ending === 'stopped' ? interrupted : []).toSorted(),
      'wait1-0 /other/failing: 1 and 200, delivered',
      'wait1-1 /other/failing: 1 and 200, delivered',
      'wait2-0 /other/failing: 2 and 200, delivered',
      'wait3-0 /other/failing: 3 and 200, delivered',
    ]);
    const known = new Map([...now].map(([id, { eventId, webhookId }]) => [`${eventId} ${pathOf(webhookId)}`, id]));
    for (const request of receiver.requests) expect(request.headers['webhook-id']).toBe(known.get(placeOf(request)));
  });

  test('what had ended is told as it was; only what was consumed again, after kill -9, was sent again', async () => {
    const now = await settled();
    for (const { attempts, ...ended } of toldBefore().filter(({ outcome }) => outcome !== 'retrying')) {
      const { attempts: all = [], ...found } = now.get(ended.id) ?? {};
      expect(found).toMatchObject(ended);
      expect(all.slice(0, attempts.length)).toEqual(attempts);
      const isAgain = ending === 'killed' && ended.eventId.startsWith('up-');
      expect(all.length - attempts.length).toBe(isAgain ? 1 : 0);
    }
  });

  test('GET lists the same webhooks, and all deliveries of each', async () => {
    for (const account of manifest.accounts) {
      const { status, body } = await request(account, '/api/webhooks');
      expect([status, body.webhooks]).toEqual([200, account.webhooks]);
      for (const { id } of account.webhooks) {
        const known = account.deliveries.filter(({ webhookId }) => webhookId === id).map((one) => one.id);
        await eventually(async () => {
          const page = await request(account, `/api/webhooks/${id}/deliveries?limit=200`);
          const listed = page.body.deliveries.map((one) => one.id);
          return known.every((one) => listed.includes(one));
        }, PATIENCE);
      }
    }
  });

  test('a request under the key that it was performed under changes nothing', async () => {
    const { accountId, key, body } = manifest.keyed;
    const account = manifest.accounts.find((one) => one.accountId === accountId) as EarlierAccount;
    const answer = await request(account, '/api/webhooks', {
      method: 'POST',
      headers: { 'idempotency-key': key },
      body: JSON.stringify(body),
    });
    expect([answer.status, (await request(account, '/api/webhooks')).body.webhooks]).toEqual([200, account.webhooks]);
  });

  test('the dead letter is replayed, under its webhook-id', async () => {
    const [event, path] = DEAD.split(' ');
    const dead = toldBefore().find(({ outcome }) => outcome === 'exhausted');
    expect([dead?.eventId, dead && pathOf(dead.webhookId)]).toEqual([event, path]);
    const replayed = await commandLine(settings, ['dead-letters', 'replay', '--event', String(event), '--json']);
    expect(linesOf(replayed.stdout)).toEqual([expect.objectContaining({ id: dead?.id })]);
    const sent = await eventually(() => receiver.taken.find((one) => placeOf(one) === DEAD), PATIENCE);
    expect(sent.headers['webhook-id']).toBe(dead?.id);
    await eventually(
      async () => (await deliveries()).find(({ id }) => id === dead?.id)?.outcome === 'delivered',
      PATIENCE,
    );
  });

  test('nothing that the service logged is an error', () => {
    const entries = linesOf<{ level: number }>(service.log());
    expect(entries.filter(({ level }) => level > WARNING)).toEqual([]);
  });

  test('the audit of completeness answers, and calls nothing lost that was sent', async () => {
    const args = ['audit', 'completeness', '--from', manifest.from, '--to', manifest.to, '--json'];
    const { code, stdout } = await commandLine(settings, args);
    expect([0, 1]).toContain(code);
    const lines = linesOf<{ kind?: string; eventId?: string; webhookId?: number }>(stdout);
    expect(lines).not.toEqual([]);
    const sent = new Set([...manifest.taken, ...receiver.taken.map(placeOf)]);
    const unanswered = lines.filter(({ kind }) => kind === 'unanswered');
    expect(unanswered.filter(({ eventId, webhookId = 0 }) => sent.has(`${eventId} ${pathOf(webhookId)}`))).toEqual([]);
  });
});
