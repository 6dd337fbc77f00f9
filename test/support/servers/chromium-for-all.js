/** Before all tests of the console: one Chromium, in which each test has contexts of its own. Without one, those tests are skipped. */
import { existsSync } from 'node:fs';
import { chromium } from 'playwright-core';
import { findChromium } from './chromium.js';

const PAGE = new URL('../../../dist/console/index.html', import.meta.url);

export default async function setUp() {
  const found = findChromium();
  if (!found && process.env.REQUIRE_BROWSER) throw new Error('the tests of the console need a Chromium: set CHROMIUM');
  if (!found) return;
  if (!existsSync(PAGE)) throw new Error('there is no dist/console to show: run make build first');
  globalThis.chromiumForAll = await chromium.launchServer({ ...found, host: '127.0.0.1' });
  process.env.CHROMIUM_FOR_ALL = globalThis.chromiumForAll.wsEndpoint();
}
