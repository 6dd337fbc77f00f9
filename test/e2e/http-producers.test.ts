/** docs/payment-events.md: what its HTTP producers publish is delivered. make producers has their libraries. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { eventually } from '../support/eventually.js';
import { HTTP_PRODUCERS, produce } from '../support/http-producers.js';
import { commandLine } from '../support/in-process-cli.js';
import { type ServiceHere, serveHere } from '../support/in-process-service.js';
import { fileOf } from '../support/operations-chapter.js';
import { type Receiver, startReceiver } from '../support/receiver.js';
import { type Account, addWebhook, installation, register, tokenFor } from '../support/story.js';

const PAGE = fileOf('docs/payment-events.md');

let receiver: Receiver;
let service: ServiceHere;
let env: Record<string, string>;
let remove: () => Promise<void>;

beforeAll(async () => {
  receiver = await startReceiver();
  const installed = await installation([receiver]);
  ({ remove } = installed);
  service = await serveHere(installed.settings);
  const token = await tokenFor(service.url, await register(installed.settings, 42));
  await addWebhook(service.url, token, { url: `${receiver.url}/in`, eventType: 'cash_in' });
  const { stdout } = await commandLine(installed.settings, ['publishers', 'register', 'ledger', '--json']);
  const publisher = JSON.parse(stdout) as Account;
  const { clientId: CLIENT_ID, clientSecret: CLIENT_SECRET } = publisher;
  env = { SERVICE: service.url, CLIENT_ID, CLIENT_SECRET, TOKEN: await tokenFor(service.url, publisher) };
});

afterAll(async () => {
  await service.stop();
  await receiver.close();
  await remove();
});

const arrived = () =>
  receiver.requests.map(({ headers, body }) => headers['ce-id'] ?? (JSON.parse(body.toString()) as { id: string }).id);

describe.each(HTTP_PRODUCERS)('$file', ({ isThere, ...producer }) => {
  test('the page shows the very file that is tried', () => {
    expect(PAGE).toContain(`\`\`\`${producer.fence}\n${fileOf(`docs/producers/${producer.file}`)}\`\`\`\n`);
  });

  if (isThere) {
    test('each of its events is delivered', async () => {
      await produce({ isThere, ...producer }, producer.file, env);
      const ids = producer.endings.map((ending) => producer.file + ending);
      await eventually(() => ids.every((id) => arrived().includes(id)), { message: `${ids} are not all delivered` });
    });

    test('it fails where its events are refused', async () => {
      const refused = { ...env, CLIENT_SECRET: 'x', TOKEN: 'x' };
      await expect(produce({ isThere, ...producer }, 'refused', refused)).rejects.toThrow(/ended with/);
    });
  } else test.skip('IS SKIPPED: make producers HAS WHAT IT NEEDS', () => undefined);
});
