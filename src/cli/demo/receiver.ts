/** The demo's receiver, an HTTPS server on this machine with a temporary certificate; and the settings that allow it. */
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { generate } from 'selfsigned';
import { readConfig } from '../../settings/read-config.js';

export type DemoReceiver = Awaited<ReturnType<typeof startDemoReceiver>>;
export type Arrival = DemoReceiver['arrivals'][number];

/** The settings of a service on this machine whose receivers are there too, the purpose of ALLOW_PRIVATE_ENDPOINTS. */
export function demoConfig(folder: string, receivers: readonly DemoReceiver[], more: Readonly<Record<string, string>>) {
  const caFile = join(folder, 'receiver-ca.pem');
  writeFileSync(caFile, receivers[0]?.certificate ?? '');
  return readConfig({
    DATA_DIR: join(folder, 'data'),
    PORT: '0',
    ADMIN_PORT: '0',
    ALLOW_PRIVATE_ENDPOINTS: 'true',
    DELIVERY_CA_FILE: caFile,
    ALLOWED_PORTS: receivers.map(({ port }) => port).join(','),
    ...more,
  });
}

/** @param answers the answer to the n-th request to a path, counted from 1; null: none ever */
export async function startDemoReceiver(
  answers: (path: string, n: number, body: string) => { readonly status: number; readonly body?: string } | null,
) {
  const { cert, private: key } = await generate([{ name: 'commonName', value: 'localhost' }], {
    keyType: 'ec',
    algorithm: 'sha256',
    extensions: [
      { name: 'basicConstraints', cA: true, critical: true },
      { name: 'subjectAltName', altNames: [{ type: 2, value: 'localhost' }] },
    ],
  });
  const arrivals: { path: string; id: string; body: string; headers: NodeJS.Dict<unknown>; status: number }[] = [];
  const server = createServer({ cert, key }, async (request, response) => {
    const { url: path = '', headers } = request;
    const body = await text(request);
    const answer = answers(path, arrivals.filter((one) => one.path === path).length + 1, body);
    if (!answer) return;
    arrivals.push({ path, id: String(headers['webhook-id']), body, headers, status: answer.status });
    response.writeHead(answer.status).end(answer.body);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  const close = async () => {
    server.closeAllConnections();
    await once(server.close(), 'close');
  };
  return { url: `https://localhost:${port}`, port, certificate: cert, arrivals, close };
}

/** Verifies a Standard Webhooks signature by hand; libraries in many languages do the same. */
export function isSigned({ id, body, headers }: Arrival, signingSecret: string): boolean {
  const key = Buffer.from(signingSecret.slice('whsec_'.length), 'base64');
  const signed = `${id}.${headers['webhook-timestamp']}.${body}`;
  const signature = `v1,${createHmac('sha256', key).update(signed).digest('base64')}`;
  return String(headers['webhook-signature']).split(' ').includes(signature);
}
