/** The demo's receiver, an HTTPS server on this machine with a temporary certificate; and the settings that allow it. */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { generate } from 'selfsigned';
import type { Config } from '../settings/config.js';
import { readConfig } from '../settings/read-config.js';

export interface Arrival {
  readonly path: string;
  readonly webhookId: string;
  readonly body: string;
  readonly apiKey: string | undefined;
  readonly signatureIsGood: boolean;
  readonly status: number;
}

export interface DemoReceiver {
  readonly url: string;
  readonly port: number;
  readonly arrivals: readonly Arrival[];
  close(): Promise<void>;
}

interface Certificate {
  readonly cert: string;
  readonly key: string;
}

/** The settings of a service on this machine whose receivers are there too, the purpose of ALLOW_PRIVATE_ENDPOINTS. */
export function demoConfig(
  folder: string,
  { cert }: Certificate,
  receivers: readonly DemoReceiver[],
  more: Readonly<Record<string, string>>,
): Config {
  const caFile = join(folder, 'receiver-ca.pem');
  writeFileSync(caFile, cert);
  return readConfig({
    DATA_DIR: join(folder, 'data'),
    PORT: '0',
    ADMIN_PORT: '0',
    ALLOW_PRIVATE_ENDPOINTS: 'true',
    ALLOWED_PORTS: receivers.map(({ port }) => port).join(','),
    DELIVERY_CA_FILE: caFile,
    ...more,
  });
}

export async function demoCertificate(): Promise<Certificate> {
  const extensions = [
    { name: 'basicConstraints' as const, cA: true, critical: true },
    { name: 'subjectAltName' as const, altNames: [{ type: 2 as const, value: 'localhost' }] },
  ];
  const pem = await generate([{ name: 'commonName', value: 'localhost' }], {
    keyType: 'ec',
    algorithm: 'sha256',
    extensions,
  });
  return { cert: pem.cert, key: pem.private };
}

export interface DemoAnswer {
  readonly status: number;
  readonly body?: string;
}

/** @param answers the answer to the n-th request to a path, counted from 1; null: none ever */
export async function startDemoReceiver(
  certificate: Certificate,
  signingSecret: () => string,
  answers: (path: string, n: number, body: string) => DemoAnswer | null,
): Promise<DemoReceiver> {
  const arrivals: Arrival[] = [];
  const server = createServer(certificate, async (request: IncomingMessage, response: ServerResponse) => {
    const body = await buffer(request);
    const path = request.url ?? '';
    const n = arrivals.filter((arrival) => arrival.path === path).length + 1;
    const answer = answers(path, n, body.toString());
    if (!answer) return;
    const { status } = answer;
    const { 'webhook-id': webhookId, 'x-api-key': apiKey } = request.headers;
    const signatureIsGood = verified(request, body, signingSecret());
    const told = { path, webhookId: String(webhookId), body: body.toString(), apiKey: apiKey?.toString() };
    arrivals.push({ ...told, signatureIsGood, status });
    response.writeHead(status).end(answer.body);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const close = async () => {
    server.closeAllConnections();
    await once(server.close(), 'close');
  };
  return { url: `https://localhost:${port}`, port, arrivals, close };
}

/** Verifies a Standard Webhooks signature by hand; libraries in many languages do the same. */
function verified({ headers }: IncomingMessage, body: Buffer, signingSecret: string): boolean {
  const key = Buffer.from(signingSecret.slice('whsec_'.length), 'base64');
  const signed = `${headers['webhook-id']}.${headers['webhook-timestamp']}.`;
  const expected = Buffer.from(createHmac('sha256', key).update(signed).update(body).digest('base64'));
  return String(headers['webhook-signature'])
    .split(' ')
    .map((signature) => Buffer.from(signature.slice('v1,'.length)))
    .some((given) => given.length === expected.length && timingSafeEqual(given, expected));
}
