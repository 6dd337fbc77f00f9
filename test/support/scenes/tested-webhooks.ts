/** Webhooks at the test's own receiver, and POST /api/webhooks/{id}/test. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Answer, Client } from '../clients/api-client.js';
import { testAuthority } from '../servers/certificates.js';
import { type ReceivedRequest, type Reply, startReceiver } from '../servers/receiver.js';
import { temporaryDirectory } from '../temporary-directory.js';

export interface TestedWebhooks {
  /** Settings of an API whose deliveries trust the receiver. */
  readonly settings: Readonly<Record<string, string>>;
  /** Empty at first, and removed at the end. */
  readonly folder: string;
  /** The receiver's response by path. Default: 200. */
  readonly replies: Map<string, Reply | Promise<Reply>>;
  requestsAt(path: string): ReceivedRequest[];
  /** Registers a webhook at that path, with its own header. @returns its id */
  register(client: Client, path: string, eventType?: string): Promise<number>;
  close(): Promise<void>;
}

export async function testedWebhooks(): Promise<TestedWebhooks> {
  const replies = new Map<string, Reply | Promise<Reply>>();
  const receiver = await startReceiver({ respond: ({ path }) => replies.get(path) ?? { status: 200 } });
  const folder = temporaryDirectory();
  const caFile = join(folder.path, 'ca.pem');
  writeFileSync(caFile, (await testAuthority()).cert);
  return {
    settings: { ALLOWED_PORTS: String(receiver.port), DELIVERY_CA_FILE: caFile },
    folder: folder.path,
    replies,
    requestsAt: (path) => receiver.requests.filter((request) => request.path === path),
    async register(client, path, eventType = 'cash_in') {
      const headers = [{ key: 'X-Api-Key', value: `key of ${path}` }];
      const { status, body } = await client.post({ url: receiver.url + path, eventType, headers });
      if (status !== 200) throw new Error(body.message);
      return (await client.list()).webhooks.at(-1)?.id ?? 0;
    },
    async close() {
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
