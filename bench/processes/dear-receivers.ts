/** Receivers that make each attempt cost the service as much CPU as they can, most of them with a 2xx. */
import { createServer, type TlsOptions } from 'node:tls';
import { certificateFor } from '../../test/support/servers/certificates.js';
import { costlyChain } from '../../test/support/servers/costly-chain.js';
import { largestParameters, rsaCertificate } from '../../test/support/servers/diffie-hellman.js';
import { listen } from '../../test/support/servers/receiver.js';
import { answerParent } from '../support/child.js';

const HEAD = 'HTTP/1.1 200 OK\r\n';
const END = 'content-length: 0\r\n\r\n';
const FLOOD_BYTES = 240 * 1_024;

export interface DearReceiver {
  readonly way: string;
  readonly port: number;
}

export const handlers = {
  /** @returns them, and the certificate to trust beside the others */
  listen: async (): Promise<{ receivers: DearReceiver[]; ca: string }> => {
    const certificate = await certificateFor(['localhost']);
    const rsa = await rsaCertificate();
    const dhe: TlsOptions = { ...rsa, maxVersion: 'TLSv1.2', ciphers: 'DHE', dhparam: largestParameters() };
    const informational = flood('HTTP/1.1 102 P\r\n\r\n');
    const receivers = [
      { way: 'DHE of 8,192 bits', port: await answering(dhe, `${HEAD}connection: close\r\n${END}`) },
      { way: 'a costly chain', port: await answering(costlyChain(), `${HEAD}${END}`) },
      { way: '1xx before a 2xx', port: await answering(certificate, `${informational}${HEAD}${END}`) },
      { way: 'empty headers', port: await answering(certificate, `${HEAD}${flood('a:\r\n')}${END}`) },
      { way: 'a head that is read', port: await answering(certificate, `${HEAD}${'a:\r\n'.repeat(24_000)}${END}`) },
    ];
    return { receivers, ca: rsa.cert };
  },
};

async function answering(options: TlsOptions, answer: string): Promise<number> {
  const server = createServer(options, (socket) => {
    socket.on('error', () => undefined);
    socket.on('data', (data) => {
      if (data.toString('latin1', 0, 5) === 'POST ') socket.write(answer);
    });
  });
  server.on('tlsClientError', () => undefined);
  return (await listen(server)).port;
}

function flood(text: string): string {
  return text.repeat(Math.floor(FLOOD_BYTES / text.length));
}

answerParent(handlers);
