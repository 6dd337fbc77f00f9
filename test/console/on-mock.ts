/** Tests whose pages show a mock of the API: for states that the service takes long to be in, or is never in. */
import type { Page } from 'playwright-core';
import { undoneAfterEach } from '../support/at-end.js';
import { describeInBrowser, type Opening } from './browser.js';
import { type MockApi, startMockApi } from './mock-api.js';

/** Signs in to a mock of its own. @param path without one, nothing is shown yet */
export type Show = (path: string | null, opening?: Opening) => Promise<{ page: Page; mock: MockApi }>;

export function describeOnMock(name: string, tests: (show: Show) => void): void {
  describeInBrowser(name, (open) => {
    const atEnd = undoneAfterEach();
    tests(async (path, opening = {}) => {
      const mock = await startMockApi();
      atEnd(() => mock.close());
      const page = await open(opening);
      if (path !== null) await page.goto(mock.link(path));
      return { page, mock };
    });
  });
}
