/** One account has an event that can't be read: it alone is felt by it, and nothing of it is lost. */
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { driver } from '../../src/adapters/sqlite/open-file.js';

import { openBackbone } from '../../src/composition/backbone.js';
import { readConfig } from '../../src/settings/read-config.js';
import { scrape } from '../support/clients/scrape.js';
import { readiness } from '../support/clients/service.js';
import { eventually } from '../support/clocks/eventually.js';
import { describeBackbones } from '../support/scenes/backbones.js';
import { Served } from '../support/scenes/served.js';
import { silentLogger } from '../support/scenes/silent-logger.js';
import { addWebhook, paymentEvents, register, tokenFor } from '../support/scenes/story.js';

const BAD = 42;
const GOOD = 43;
const PATIENCE = { timeout: 20_000 };
const SET_ASIDE =
  /^account 42 is set aside: event \d+ \(WebhookUpdated, [0-9a-f-]{36}\) can't be read: its data is no JSON object, or is too long or nested too deeply$/;

interface Letter {
  readonly reason: string;
  readonly detail: string;
  readonly accountId: number;
  readonly eventId: string;
  readonly webhookId: number | null;
}

describeBackbones((backbone) => {
  let isDown = false;
  const served = Served.around({
    respond: () => ({ status: isDown ? 500 : 200 }),
    backbone,
    // What waits is for the account to be set aside meanwhile.
    settings: { RETRY_SCHEDULE: '2s,2s,2s' },
  });
  let tokens: string[];

  beforeAll(async () => {
    const { service, settings, receiver, token } = served;
    tokens = [token, await tokenFor(service.url, await register(settings, GOOD))];
    for (const [index, accountId] of [BAD, GOOD].entries())
      await addWebhook(service.url, tokens[index] ?? '', { url: `${receiver.url}/${accountId}`, eventType: 'cash_in' });
  });

  const publish = (events: string) => served.publish(events);
  const sent = (accountId: number) =>
    served.receiver.requests.flatMap(({ path, body }) =>
      path === `/${accountId}` ? [(JSON.parse(body.toString()) as { id: string }).id] : [],
    );
  const list = (index: number) => served.ask('GET', '/api/webhooks', undefined, tokens[index]);
  const letters = () => served.lines<Letter>('dead-letters', 'list');
  const ready = async () => {
    const { httpStatus, parts } = await readiness(served.service);
    return { status: httpStatus, why: parts.find(({ part }) => part === 'accounts')?.why };
  };
  const audit = async () => {
    const [from, to] = [-3_600_000, 60_000].map((ms) => new Date(Date.now() + ms).toISOString());
    return served.command('audit', 'completeness', '--from', String(from), '--to', String(to));
  };

  /** As no release of ours does. */
  async function spoil(): Promise<void> {
    const { store, close } = await openBackbone(readConfig(served.settings), silentLogger);
    let last = -1;
    for await (const { revision } of store.read(`account-${BAD}`)) last = revision;
    const data = null as unknown as Record<string, unknown>;
    await store.append(`account-${BAD}`, [{ id: randomUUID(), type: 'WebhookUpdated', data, metadata: {} }], last);
    await close();
  }

  test('it is set aside, and everybody else goes on', async () => {
    isDown = true;
    await publish(paymentEvents(BAD, 1, 'waiting-'));
    await eventually(() => sent(BAD).length === 1, PATIENCE);
    await spoil();
    await eventually(async () => (await list(0)).status === 503, PATIENCE);
    isDown = false;
    await publish(paymentEvents(BAD, 2, 'later-') + paymentEvents(GOOD, 2, 'good-'));
    await eventually(() => sent(GOOD).length === 2, PATIENCE);
    expect((await list(1)).status).toBe(200);
    await eventually(async () => (await letters()).length === 3, PATIENCE);
    expect(sent(BAD)).toEqual(['waiting-0']);
  });

  test('its calls are 503, a token of it as well; without a good one they are 401', async () => {
    const { status, headers, body } = await list(0);
    expect({ status, body }).toEqual({
      status: 503,
      body: { success: false, message: expect.any(String), code: expect.any(String) },
    });
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
    expect(
      await addWebhook(served.service.url, tokens[0] ?? '', { url: `${served.receiver.url}/x`, eventType: 'cash_in' }),
    ).toBe(503);
    expect(
      await addWebhook(served.service.url, 'none', { url: `${served.receiver.url}/x`, eventType: 'cash_in' }),
    ).toBe(401);
    const { clientId: client_id, clientSecret: client_secret } = served.account;
    const form = new URLSearchParams({ grant_type: 'client_credentials', client_id, client_secret });
    expect((await fetch(`${served.service.url}/oauth/token`, { method: 'POST', body: form })).status).toBe(503);
  });

  test('its payments and what waited are dead letters that name the event, and the audit counts them', async () => {
    const found = await letters();
    expect(found.map(({ reason, eventId }) => `${reason} ${eventId}`).toSorted()).toEqual([
      'account-unreadable later-0',
      'account-unreadable later-1',
      'account-unreadable waiting-0',
    ]);
    for (const { detail, accountId } of found) {
      expect(accountId).toBe(BAD);
      expect(detail).toMatch(SET_ASIDE);
    }
    let report = await audit();
    await eventually(async () => {
      if (report.code !== 0) report = await audit();
      return report.code === 0;
    }, PATIENCE);
    expect(report.stdout).toMatch(/^unanswered +0$/m);
  });

  test('/health/ready, the metric, the log, doctor and the audit name the account and the event', async () => {
    const { status, why } = await ready();
    expect(status).toBe(200);
    expect(why).toMatch(SET_ASIDE);
    const samples = await scrape(served.service.adminUrl);
    expect(samples.value('account_webhooks_accounts_unreadable')).toBe(1);
    const told = served.service
      .log()
      .split('\n')
      .filter((line) => line.includes('is set aside'));
    expect(told).toHaveLength(1);
    const doctor = await served.command('doctor');
    expect(doctor.stdout).toMatch(/^FAIL {2}accounts: account 42 is set aside: event \d+ \(WebhookUpdated/m);
    const { stdout } = await served.command('audit', 'log', '--account', String(BAD));
    expect(stdout).toMatch(
      /WebhookUpdated .*can't be read: its data is no JSON object, or is too long or nested too deeply$/m,
    );
    const at = await served.command('audit', 'at', '--account', String(BAD), '--time', '2100-01-01T00:00:00Z');
    expect({ code: at.code, stderr: at.stderr.trim() }).toEqual({
      code: 1,
      stderr: expect.stringMatching(/^account-webhooks: account 42 is set aside: event /),
    });
  });

  test('a replay before it can be read leaves all of it, and says so', async () => {
    const { code, stdout, stderr } = await served.command('dead-letters', 'replay');
    expect({ code, stdout }).toEqual({ code: 0, stdout: '0 replayed\n' });
    expect(stderr).toMatch(/3 not replayed: of accounts that can't be read/);
    expect(await letters()).toHaveLength(3);
  });

  // Only of the embedded store the test can make another event of it.
  if (!backbone.name.startsWith('SQLite')) return;
  test('a release that reads the event takes the account back, and a replay sends what was published meanwhile', async () => {
    await served.service.stop();
    const file = new (driver())(join(String(served.settings.DATA_DIR), 'store.sqlite'));
    file.exec(`UPDATE events SET type = 'OfALaterRelease' WHERE stream = 'account-${BAD}' AND data = 'null'`);
    file.close();
    await served.serve();
    expect((await list(0)).status).toBe(200);
    expect((await ready()).why).toBeUndefined();
    const { stdout } = await served.command('dead-letters', 'replay', '--account', String(BAD));
    expect(stdout).toMatch(/3 replayed\n$/);
    await eventually(() => new Set(sent(BAD)).size === 3, PATIENCE);
    expect((await served.command('dead-letters', 'replay')).stdout).toBe('0 replayed\n');
    await eventually(async () => (await audit()).code === 0, PATIENCE);
  });
});
