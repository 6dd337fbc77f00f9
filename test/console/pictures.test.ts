/**
 * The way of a new user through `demo --keep`, from its link to a failed delivery that arrives. Takes the pictures of the
 * README on the way: with PICTURES=1 into docs/pictures, else only to look whether they show something.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';
import { MAIN } from '../support/clients/service.js';
import { eventually } from '../support/clocks/eventually.js';
import { temporaryDirectory } from '../support/scenes/temporary-directory.js';
import { describeInBrowser } from './browser.js';

const PICTURES = fileURLToPath(new URL('../../docs/pictures/', import.meta.url));
/** A picture of nothing has less. */
const LEAST_BYTES = 20_000;
const MOST_BYTES = 150_000;

describeInBrowser('a new user of the demo', (open) => {
  const folder = temporaryDirectory();
  let demo: ChildProcess;
  let links: AsyncIterator<string>;

  beforeAll(async () => {
    const env = { ...process.env, TMPDIR: folder.path };
    demo = spawn(process.execPath, [MAIN, 'demo', '--keep'], { env, stdio: ['pipe', 'pipe', 'inherit'] });
    links = linksOf(demo);
  });
  // Each link opens one session.
  afterEach(() => void demo.stdin?.write('\n'));
  afterAll(async () => {
    const closed = once(demo, 'close');
    demo.kill('SIGINT');
    await closed;
    folder.remove();
  });

  async function take(page: Page, name: string, height: number): Promise<void> {
    const path = join(process.env.PICTURES ? PICTURES : folder.path, `${name}.png`);
    await page.mouse.move(0, 0);
    await page.setViewportSize({ width: 1280, height });
    await page.evaluate('scrollTo(0, 0)');
    await page.screenshot({ path });
    const { size } = statSync(path);
    expect(size).toBeGreaterThan(LEAST_BYTES);
    expect(size).toBeLessThan(MOST_BYTES);
  }

  it.each([
    ['light', ''],
    ['dark', '-dark'],
  ] as const)(
    'finds why a payment failed, resends it and sees it arrive, on a %s page',
    async (colorScheme, suffix) => {
      const refused = /^503 POST .*\/resend$/;
      const page = await open({ colorScheme, refused, viewport: { width: 1280, height: 800 } });
      await page.goto((await links.next()).value);
      await page.getByText('Switched off by us').waitFor();
      await page.getByText('Counted since').waitFor();
      // Right after its start the service has not read all deliveries yet.
      await page.getByText('Timeout').waitFor();
      await take(page, `overview${suffix}`, 820);
      await page.getByRole('link', { name: 'Payments' }).first().click();
      await page.getByRole('combobox', { name: 'Arrived?' }).selectOption('part');
      await page.getByRole('combobox', { name: 'Answer' }).selectOption('5xx');
      await page.locator('.destinations a').filter({ hasText: '/fraud-check' }).last().click();
      const failed = page.getByRole('article').filter({ hasText: '/fraud-check' });
      await failed.getByText('database is locked').filter({ visible: true }).first().waitFor();
      // Its receiver is well some seconds after the payment, and the service once it has read all deliveries.
      await eventually(async () => {
        if ((await failed.getByText('Accepted by the receiver').count()) > 0) return true;
        const resend = failed.locator('.primary:enabled');
        if ((await resend.count()) > 0) await resend.click();
        return false;
      });
      await failed.getByText('resent by demo').first().waitFor();
      await page.locator('h1').getByText('Arrived', { exact: true }).waitFor();
      await take(page, `delivery${suffix}`, 1000);
    },
  );
});

async function* linksOf({ stdout }: ChildProcess): AsyncGenerator<string> {
  if (!stdout) return;
  for await (const line of createInterface({ input: stdout })) {
    if (line.includes('/console#code=')) yield line.trim();
  }
}
