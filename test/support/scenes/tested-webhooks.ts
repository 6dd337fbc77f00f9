/** Webhooks at the test's own receiver, an API whose deliveries trust it, account 42, and POST /api/webhooks/{id}/test. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Answer, Client } from '../clients/api-client.js';
import { testAuthority } from '../servers/certificates.js';
import { type Reply, startReceiver } from '../servers/receiver.js';
import { startApi } from './api-fixture.js';
import { temporaryDirectory } from './temporary-directory.js';

export type TestedWebhooks = Awaited<ReturnType<typeof testedWebhooks>>;

/** One of it for the tests around the call. Each begins without replies. */
export function withTestedWebhooks(given: (tested: TestedWebhooks) => void): void {
  let tested: TestedWebhooks;
  beforeAll(async () => {
    tested = await testedWebhooks();
    given(tested);
  });
  afterEach(() => tested.replies.clear());
  afterAll(() => tested.close());
}

async function testedWebhooks() {
  /** The receiver's response by path. Default: 200. */
  const replies = new Map<string, Reply | Promise<Reply>>();
  const receiver = await startReceiver({ respond: ({ path }) => replies.get(path) ?? { status: 200 } });
  const folder = temporaryDirectory();
  const caFile = join(folder.path, 'ca.pem');
  writeFileSync(caFile, (await testAuthority()).cert);
  const settings = { ALLOWED_PORTS: String(receiver.port), DELIVERY_CA_FILE: caFile };
  const api = await startApi(settings);
  return {
    api,
    client: await api.account(42),
    /** Of another API whose deliveries trust the receiver. */
    settings,
    /** Empty at first, and removed at the end. */
    folder: folder.path,
    replies,
    requestsAt: (path: string) => receiver.requests.filter((request) => request.path === path),
    /** Registers a webhook at that path, with its own header. @returns its id */
    async register(client: Client, path: string, eventType = 'cash_in'): Promise<number> {
      const headers = [{ key: 'X-Api-Key', value: `key of ${path}` }];
      const { status, body } = await client.post({ url: receiver.url + path, eventType, headers });
      if (status !== 200) throw new Error(body.message);
      return (await client.list()).webhooks.at(-1)?.id ?? 0;
    },
    async close() {
      await api.close();
      await receiver.close();
      folder.remove();
    },
  };
}

export function sendTest(
  client: Client,
  id: number | string,
  given: Parameters<Client['send']>[2] = {},
): Promise<Answer> {
  return client.send('POST', `/api/webhooks/${id}/test`, given);
}
