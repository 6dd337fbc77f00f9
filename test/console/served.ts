/** The service itself for the tests of a file, with a receiver whose answers they set, and accounts. */
import { afterAll, beforeAll } from '@jest/globals';
import type { Page } from 'playwright-core';
import { Client } from '../support/api-fixture.js';
import { type ServiceHere, serveHere } from '../support/in-process-service.js';
import { opened } from '../support/portal-session.js';
import { type Receiver, type Reply, startReceiver } from '../support/receiver.js';
import type { Settings } from '../support/service.js';
import { type Account, installation, publishEvents, register, tokenFor } from '../support/story.js';
import type { Open, Opening } from './browser.js';

export const RIGHTS = ['read', 'payloads', 'resend', 'configure', 'secrets'];

interface Entering extends Opening {
  /** Default: all rights. */
  readonly can?: readonly string[];
  readonly user?: string;
  /** The screen's path, within the console. */
  readonly next?: string;
}

export interface Served {
  readonly service: ServiceHere;
  readonly receiver: Receiver;
  /** By path; 200 where there is none. */
  readonly replies: Map<string, Reply>;
  /** Of an id of its own. */
  account(): Promise<Client<Account>>;
  publish(events: string): Promise<void>;
  /** Signs in by a link. */
  enter(account: Client<Account>, entering?: Entering): Promise<Page>;
}

/** Runs from before the first test to after the last. */
export function served(open: Open, own: Settings): Served {
  const replies = new Map<string, Reply>();
  const running = {} as { service: ServiceHere; receiver: Receiver; settings: Settings };
  let remove: () => Promise<void>;
  let accounts = 41;
  beforeAll(async () => {
    const receiver = await startReceiver({ respond: ({ path }) => replies.get(path) ?? { status: 200 } });
    const installed = await installation([receiver]);
    ({ remove } = installed);
    const settings = { ...installed.settings, ...own };
    Object.assign(running, { receiver, settings, service: await serveHere(settings) });
  });
  afterAll(async () => {
    await running.service.stop();
    await running.receiver.close();
    await remove();
  });
  return {
    get service() {
      return running.service;
    },
    get receiver() {
      return running.receiver;
    },
    replies,
    async account() {
      accounts += 1;
      const credential = await register(running.settings, accounts);
      return new Client(running.service.url, credential, await tokenFor(running.service.url, credential));
    },
    publish: (events) => publishEvents(running.settings, events),
    async enter(account, { can = RIGHTS, user = 'maria', next = '/', ...opening } = {}) {
      const page = await open(opening);
      await page.goto((await opened(account, { can, user, next })).url);
      await page.locator('.user-name').getByText(user, { exact: true }).waitFor();
      return page;
    },
  };
}
