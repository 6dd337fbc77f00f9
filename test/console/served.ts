/** The service itself for the tests of a file, with a receiver whose answers they set, and accounts. */
import type { Page } from 'playwright-core';
import { Client } from '../support/clients/api-client.js';
import { opened } from '../support/clients/portal-session.js';
import type { Settings } from '../support/clients/service.js';
import { Served as Installed } from '../support/scenes/served.js';
import { type Account, register, tokenFor } from '../support/scenes/story.js';
import type { Reply } from '../support/servers/receiver.js';
import type { Open, Opening } from './browser.js';

export const RIGHTS = ['read', 'payloads', 'resend', 'configure', 'secrets'];

interface Entering extends Opening {
  /** Default: all rights. */
  readonly can?: readonly string[];
  readonly user?: string;
  /** The screen's path, within the console. */
  readonly next?: string;
}

/** Runs from before the first test to after the last. */
export function served(open: Open, settings: Settings) {
  const replies = new Map<string, Reply>();
  const installed = Installed.around({ respond: ({ path }) => replies.get(path) ?? { status: 200 }, settings });
  let accounts = 42;
  return {
    get service() {
      return installed.service;
    },
    get receiver() {
      return installed.receiver;
    },
    /** By path; 200 where there is none. */
    replies,
    /** Of an id of its own. */
    async account(): Promise<Client<Account>> {
      accounts += 1;
      const { url } = installed.service;
      const credential = await register(installed.settings, accounts);
      return new Client(url, credential, await tokenFor(url, credential));
    },
    publish: (events: string) => installed.publish(events),
    /** Signs in by a link. */
    async enter(account: Client<Account>, entering: Entering = {}): Promise<Page> {
      const { can = RIGHTS, user = 'maria', next = '/', ...opening } = entering;
      const page = await open(opening);
      await page.goto((await opened(account, { can, user, next })).url);
      await page.locator('.user-name').getByText(user, { exact: true }).waitFor();
      return page;
    },
  };
}
