/** A Chromium, as it is installed on this machine: for tests and benchmarks. */
import { existsSync } from 'node:fs';

const PLACES = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
];

/** @returns {import('playwright-core').LaunchOptions | null} null: there is none */
export function findChromium() {
  const executablePath = process.env.CHROMIUM ?? PLACES.find((place) => existsSync(place));
  // Root has no sandbox.
  return executablePath ? { executablePath, args: process.getuid?.() === 0 ? ['--no-sandbox'] : [] } : null;
}
