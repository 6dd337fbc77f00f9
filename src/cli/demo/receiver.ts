/** The demo's receiver, an HTTPS server on this machine with a temporary certificate; and the settings that allow it. */
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { generate } from 'selfsigned';
import { parseSigningSecret, signatureOf } from '../../delivery/attempt/signature.js';
import { readConfig } from '../../settings/read-config.js';

type DemoReceiver = Awaited<ReturnType<typeof startDemoReceiver>>;
type Arrival = DemoReceiver['arrivals'][number];

/** The settings of a service on this machine whose receiver is there too, the purpose of ALLOW_PRIVATE_ENDPOINTS. */
export function demoConfig(folder: string, receiver: DemoReceiver, more: Readonly<Record<string, string>>) {
  const caFile = join(folder, 'receiver-ca.pem');
  writeFileSync(caFile, receiver.certificate);
  return readConfig({
    DATA_DIR: join(folder, 'data'),
    PORT: '0',
    ADMIN_PORT: '0',
    ALLOW_PRIVATE_ENDPOINTS: 'true',
    DELIVERY_CA_FILE: caFile,
    ALLOWED_PORTS: String(receiver.port),
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
    extensions: [{ name: 'subjectAltName', altNames: [{ type: 2, value: 'localhost' }] }],
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

/** As any Standard Webhooks library verifies it. */
export function isSigned({ id, body, headers }: Arrival, signingSecret: string): boolean {
  const timestamp = Number(headers['webhook-timestamp']);
  const signed = { id, timestamp, body: Buffer.from(body), secrets: [parseSigningSecret(signingSecret)] };
  return headers['webhook-signature'] === signatureOf(signed);
}
