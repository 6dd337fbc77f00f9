/**
 * The service with the day of history of `demo --keep`, for the tests of a file. Its pages come through a proxy, which brings
 * about what the service takes long to come to, or never does.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { makeDay } from '../../src/cli/demo/day.js';
import { demoConfig, startDemoReceiver } from '../../src/cli/demo/receiver.js';
import { answerTo, paymentOf, STORY_SETTINGS } from '../../src/cli/demo/story.js';
import { HttpPublisher } from '../../src/cli/http-publisher.js';
import { ROLES, startApp } from '../../src/composition/app.js';
import { createLogger } from '../../src/observability/logger.js';
import { Client } from '../support/clients/api-client.js';
import { opened } from '../support/clients/portal-session.js';
import { eventually } from '../support/clocks/eventually.js';
import { tokenFor } from '../support/scenes/story.js';
import { temporaryDirectory } from '../support/scenes/temporary-directory.js';
import { certificateFor } from '../support/servers/certificates.js';
import { describeInBrowser, type Opening } from './browser.js';
import { startProxy } from './proxy.js';
import { RIGHTS } from './served.js';

/** Of the newest payment. Every fourth is answered with an error first, by one of its two receivers. */
const NEWEST = 9_000;
/** More digits than a number keeps. */
const AMOUNT = '9007199254740993.10';

const USER = 'maria';

export type Day = Awaited<ReturnType<typeof startDay>>;

/** Signs in. @param path within the console; null: nothing is shown yet */
export type Show = (path: string | null, opening?: Opening) => Promise<{ page: Page; day: Day }>;

export function describeOnDay(name: string, tests: (show: Show) => void): void {
  describeInBrowser(name, (open) => {
    let day: Day;
    beforeAll(async () => {
      day = await startDay();
    });
    afterEach(() => void day.proxy.forget());
    afterAll(() => day.close());
    tests(async (path, opening) => {
      const page = await open(opening);
      if (path !== null) {
        await page.goto(await day.link(path));
        await page.locator('.user-name').getByText(USER, { exact: true }).waitFor();
      }
      return { page, day };
    });
  });
}

async function startDay() {
  const [until, folder, logger] = [Date.now(), temporaryDirectory(), createLogger('fatal')];
  const receiver = await startDemoReceiver((path, _n, payment) => {
    const { decided, body } = answerTo(path, payment, until, Date.now());
    return decided.kind === 'response' ? { status: decided.status, body } : null;
  });
  const proxy = await startProxy();
  const settings = { ...STORY_SETTINGS, ...(await clientCertificate(folder.path)), PUBLIC_URL: proxy.url };
  const config = demoConfig(folder.path, receiver, settings);
  const { account, publisher } = await makeDay({ config, logger, receiver: receiver.url, until });
  const app = await startApp(config, ROLES, logger);
  const url = `http://127.0.0.1:${app.apiPort}`;
  proxy.target = url;
  const client = new Client(url, account, await tokenFor(url, account));
  const get = async <T>(path: string) => (await client.send<T>('GET', path)).body;
  const payments = new HttpPublisher(url, [publisher.clientId, publisher.clientSecret]);
  const pay = async (n: number) => {
    const value = `${paymentOf(n, 'cash_in', Date.now())}`.replace(/(?<="amount":")[^"]+/, AMOUNT);
    await payments.publish([{ key: null, value: Buffer.from(value), headers: [] }]);
    return `pay-${1_000 + n}`;
  };
  await client.send('PUT', '/api/notices', { json: { url: `${receiver.url}/notices` } });
  const newest = await pay(NEWEST);
  // Behind it, all is read.
  const arrived = `/api/events?eventId=${newest}&arrived=part`;
  await eventually(async () => (await get<{ events: object[] }>(arrived)).events.length > 0);
  const day = {
    proxy,
    client,
    receiver,
    newest,
    /** @returns its id */
    pay,
    /** That whose URL has the path. */
    async webhook(path: string) {
      const found = (await client.list()).webhooks.find(({ url }) => url === receiver.url + path);
      if (!found) throw new Error(`no webhook of the day has ${path}`);
      return found;
    },
    /** The id of a delivery to the path: that which waits longest from now on, where it waits. */
    async delivery(path: string, outcome: string): Promise<string> {
      const asked = `/api/deliveries?webhookId=${(await day.webhook(path)).id}&outcome=${outcome}`;
      const { deliveries } = await get<{ deliveries: { id: string; nextAttemptAt: string | null }[] }>(asked);
      const until = ({ nextAttemptAt }: (typeof deliveries)[number]) => Date.parse(nextAttemptAt ?? '') || 0;
      const [found] = deliveries.sort((one, other) => until(other) - until(one));
      if (!found) throw new Error(`no delivery to ${path} is ${outcome}`);
      return found.id;
    },
    /** Starts a recovery of what waits there, which is from now on said to stand so. */
    async recovering(path: string, stands: object) {
      const { id } = await day.webhook(path);
      const json = { webhookIds: [id], since: new Date(0).toISOString(), include: ['retrying'] };
      const { status } = await client.send('POST', '/api/recoveries', { json });
      if (status !== 202) throw new Error(`no recovery was started: ${status}`);
      const said = (one: object) => ({ ...one, ...stands });
      proxy.altered = (body, { pathname }) => {
        if (!pathname.startsWith('/api/recoveries')) return body;
        const all = body as { recoveries?: object[] };
        return all.recoveries ? { recoveries: all.recoveries.map(said) } : said(all);
      };
    },
    /** Works once. */
    link: async (next = '/') => (await opened(client, { can: RIGHTS, user: USER, next })).url,
    async close() {
      await app.close();
      await proxy.close();
      await receiver.close();
      folder.remove();
    },
  };
  return day;
}

/** For the Security screen to show. */
async function clientCertificate(folder: string) {
  const { cert, key } = await certificateFor();
  const [certificateFile, keyFile] = [join(folder, 'client-cert.pem'), join(folder, 'client-key.pem')];
  writeFileSync(certificateFile, cert);
  writeFileSync(keyFile, key);
  return { DELIVERY_CLIENT_CERT_FILE: certificateFile, DELIVERY_CLIENT_KEY_FILE: keyFile };
}
