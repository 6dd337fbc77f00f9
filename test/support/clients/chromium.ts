/** A Chromium, as it is installed on this machine: for tests and benchmarks. */
import { existsSync } from 'node:fs';
import { type Browser, chromium } from 'playwright-core';

const PLACES = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
];

const PAGE = new URL('../../../dist/console/index.html', import.meta.url);

/** Null: there is none. @throws if REQUIRE_BROWSER is set, or there is no page to show */
export function findBrowser(): string | null {
  const found = process.env.CHROMIUM ?? PLACES.find((place) => existsSync(place));
  if (!found && process.env.REQUIRE_BROWSER) throw new Error('the tests of the console need a Chromium: set CHROMIUM');
  if (found && !existsSync(PAGE)) throw new Error('there is no dist/console to show: run make build first');
  return found ?? null;
}

export function launch(executablePath: string): Promise<Browser> {
  // Root has no sandbox.
  return chromium.launch({ executablePath, args: process.getuid?.() === 0 ? ['--no-sandbox'] : [] });
}
