/** docs/payment-events.md: what its HTTP producers publish is delivered. make producers has their libraries. */
import { beforeAll, describe, expect, test } from '@jest/globals';
import { eventually } from '../support/eventually.js';
import { HTTP_PRODUCERS, produce } from '../support/http-producers.js';
import { fileOf } from '../support/operations-chapter.js';
import { Served } from '../support/served.js';
import { type Account, tokenFor } from '../support/story.js';

const PAGE = fileOf('docs/payment-events.md');

const served = Served.around();
let env: Record<string, string>;

beforeAll(async () => {
  await served.addWebhook('/in');
  const [publisher] = await served.lines<Account>('publishers', 'register', 'ledger');
  if (!publisher) throw new Error('no publisher was registered');
  const { clientId: CLIENT_ID, clientSecret: CLIENT_SECRET } = publisher;
  const { url } = served.service;
  env = { SERVICE: url, CLIENT_ID, CLIENT_SECRET, TOKEN: await tokenFor(url, publisher) };
});

const arrived = () =>
  served.receiver.requests.map(
    ({ headers, body }) => headers['ce-id'] ?? (JSON.parse(body.toString()) as { id: string }).id,
  );

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
