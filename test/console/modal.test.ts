/** What closes a dialog, and what does not. */
import type { Page } from 'playwright-core';
import { describeOnMock } from './on-mock.js';

const GIVEN_URL = 'https://hooks.example.com/some/long/path';

describeOnMock('a dialog', (show) => {
  async function adding() {
    const { page } = await show('/console/webhooks');
    await page.getByRole('button', { name: 'Add a webhook' }).click();
    const dialog = page.getByRole('dialog', { name: 'Add a webhook' });
    const url = dialog.getByLabel('URL');
    await url.fill(GIVEN_URL);
    return { page, dialog, url };
  }

  it('stays open when a selection of text is dragged out of it', async () => {
    const { page, dialog, url } = await adding();
    const from = await url.boundingBox();
    if (!from) throw new Error('no field');
    await page.mouse.move(from.x + from.width / 2, from.y + from.height / 2);
    await drag(page, 5, from.y);
    expect(await dialog.getByLabel('URL').inputValue()).toBe(GIVEN_URL);
  });

  it('closes by a click outside', async () => {
    const { page, dialog } = await adding();
    await page.mouse.click(5, 5);
    await dialog.waitFor({ state: 'detached' });
  });
});

/** The click that follows is sent before `mouse.up` ends. */
async function drag(page: Page, x: number, y: number): Promise<void> {
  await page.mouse.down();
  await page.mouse.move(x, y);
  await page.mouse.up();
}
