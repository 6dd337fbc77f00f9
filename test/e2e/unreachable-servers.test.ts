/** Why no connection to Kafka, EventStoreDB or an issuer comes about: the doctor and a command name the cause, and its setting. */
import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { createServer as createTlsServer, type TlsOptions } from 'node:tls';
import { fileURLToPath } from 'node:url';
import { certificateFor, testAuthority } from '../support/certificates.js';
import { type Examined, readExamined } from '../support/examined.js';
import { listen } from '../support/receiver.js';
import type { Finished, Settings } from '../support/service.js';
import { temporaryDirectory } from '../support/temporary-directory.js';

const MASTER_KEY = Buffer.alloc(32).toString('base64');
/** Of no authority that the tests trust. */
const OTHER_NAME = 'elsewhere.example';

interface Case {
  /** Null: the name does not resolve. */
  readonly server: (() => Promise<Server>) | null;
  /** What the client expects. */
  readonly tls: boolean;
  /** Which CA the client trusts, if not that of the tests. */
  readonly ca?: 'tests' | 'other';
  /** Of each server, beside its name. */
  readonly kafka: RegExp;
  readonly store: RegExp;
  readonly issuer: RegExp;
}

const overTls = async (options: TlsOptions = {}, names?: readonly string[]) => {
  const { cert, key } = await certificateFor(names);
  // Without it a refused handshake ends in an uncaught error.
  return createTlsServer({ cert, key, ...options }).on('tlsClientError', () => undefined);
};
const plain = (answer: string) => async () => createServer((socket) => socket.on('data', () => socket.end(answer)));

const CASES: Readonly<Record<string, Case>> = {
  'TLS to a port that speaks plain text': {
    server: plain('HTTP/1.1 400 Bad Request\r\n\r\n'),
    tls: true,
    kafka: /^FAIL Kafka speaks no TLS at this port \(ERR_SSL_\w+\): unset KAFKA_TLS/,
    store: /^FAIL EventStoreDB speaks no TLS at this port: set tls=false in EVENT_STORE_URL/,
    issuer: /^FAIL the issuer speaks no TLS at this port \(ERR_SSL_\w+\): use http in AUTH_JWKS_URL/,
  },
  'TLS to a port that closes on it': {
    server: plain(''),
    tls: true,
    kafka: /during the TLS handshake \(ECONNRESET\).*unset KAFKA_TLS/,
    store: /during the TLS handshake: .*tls=false in EVENT_STORE_URL/,
    issuer: /during the TLS handshake \(ECONNRESET\).*use http in AUTH_JWKS_URL/,
  },
  'plain text to a port that speaks TLS': {
    server: () => overTls(),
    tls: false,
    kafka: /set KAFKA_TLS=true/,
    store: /set tls=true in EVENT_STORE_URL/,
    issuer: /use https in AUTH_JWKS_URL/,
  },
  'a client certificate that is demanded': {
    server: async () => overTls({ requestCert: true, ca: (await testAuthority()).cert }),
    tls: true,
    kafka: /client certificate.* see KAFKA_CLIENT_CERT_FILE and KAFKA_CLIENT_KEY_FILE/,
    store: /client certificate.* see userCertFile and userKeyFile in EVENT_STORE_URL/,
    issuer: /client certificate/,
  },
  'a certificate with another name': {
    server: () => overTls({}, [OTHER_NAME]),
    tls: true,
    kafka: /certificate lacks the name .*\(ERR_TLS_CERT_ALTNAME_INVALID\): see BROKER_URL/,
    store: /certificate lacks the name 127\.0\.0\.1/,
    issuer: /certificate lacks the name .*see AUTH_JWKS_URL/,
  },
  'a certificate of another authority': {
    server: () => overTls(),
    tls: true,
    ca: 'other',
    kafka: /^FAIL Kafka's certificate was not accepted \(\w+\): see KAFKA_CA_FILE$/,
    store: /^FAIL EventStoreDB's certificate was not accepted: see tlsCaFile/,
    issuer: /certificate was not accepted \(\w+\): see NODE_EXTRA_CA_CERTS$/,
  },
  'a name that does not resolve': {
    server: null,
    // The issuer of another machine is asked by https only.
    tls: true,
    kafka: /^FAIL the name nowhere\.invalid of Kafka does not resolve \(E\w+\): see BROKER_URL/,
    store: /^FAIL the name nowhere\.invalid of EventStoreDB does not resolve: see EVENT_STORE_URL$/,
    issuer: /^FAIL the name nowhere\.invalid of the issuer does not resolve \(E\w+\): see AUTH_JWKS_URL$/,
  },
};

/** Of a cluster, by case; the client itself says only that it found no member. */
const CLUSTERS: Readonly<Record<string, RegExp>> = {
  'a certificate of another authority': /no member .*certificate was not accepted: see tlsCaFile/,
  'TLS to a port that speaks plain text': /no member .*speaks no TLS at this port/,
};

const SCRIPT = fileURLToPath(new URL('../support/doctor-process.js', import.meta.url));
const TYPESCRIPT = new URL('../../scripts/typescript/register.js', import.meta.url).href;

/** Node reads NODE_EXTRA_CA_CERTS at its start. */
function doctorProcess(settings: Settings): Promise<Finished> {
  return new Promise((resolve) => {
    const args = ['--import', TYPESCRIPT, SCRIPT];
    execFile(process.execPath, args, { env: { PATH: process.env.PATH, ...settings } }, (error, stdout, stderr) =>
      resolve({ code: error ? 1 : 0, stdout, stderr }),
    );
  });
}

const folder = temporaryDirectory();
const cleanups: (() => unknown)[] = [() => folder.remove()];
const found = new Map<string, Examined>();

/** Three at a time: each waits for its clients' attempts. All at once, a busy machine has none of them done within doctor's 5 s. */
beforeAll(async () => {
  const file = (name: string, pem: string) => {
    const path = join(folder.path, name);
    writeFileSync(path, pem);
    return path;
  };
  const files = {
    tests: file('ca.pem', (await testAuthority()).cert),
    // A certificate that issued none of the others.
    other: file('other.pem', (await certificateFor([OTHER_NAME])).cert),
  };
  const examine = async ([name, { server, tls, ca = 'tests' as const }]: [
    string,
    Case & { ca?: keyof typeof files },
  ]) => {
    const listener = server && (await listen(await server()));
    if (listener) cleanups.push(() => listener.close());
    const at = listener ? `127.0.0.1:${listener.port}` : 'nowhere.invalid:9092';
    const DATA_DIR = join(folder.path, name);
    const settings: Settings = {
      ...{ DATA_DIR, MASTER_KEY, PORT: '0', ADMIN_PORT: '0', BROKER_URL: `kafka://${at}` },
      ...(tls ? { KAFKA_CA_FILE: files[ca], NODE_EXTRA_CA_CERTS: files[ca] } : {}),
      AUTH_JWKS_URL: `${tls ? 'https' : 'http'}://${at}/jwks`,
    };
    const doctor = async (url: string) => readExamined(await doctorProcess({ ...settings, EVENT_STORE_URL: url }));
    const url = `esdb://${at}?tls=${tls}${tls ? `&tlsCAFile=${files[ca]}` : ''}`;
    found.set(name, await doctor(url));
    if (name in CLUSTERS) found.set(`cluster: ${name}`, await doctor(url.replace('esdb:', 'esdb+discover:')));
  };
  const left = Object.entries(CASES);
  const lane = async () => {
    for (let next = left.shift(); next; next = left.shift()) await examine(next);
  };
  await Promise.all([lane(), lane(), lane()]);
});
afterAll(async () => {
  for (const cleanup of cleanups.reverse()) await cleanup();
});

describe.each(Object.entries(CASES))('%s', (name, { kafka, store, issuer }) => {
  test.each([
    ['broker', kafka],
    ['event store', store],
    ['AUTH_JWKS_URL', issuer],
  ])('the check of %s names the cause and its setting', (check, says) => {
    expect(found.get(name)?.of(check)).toEqual([expect.stringMatching(says)]);
  });

  test('no check advises to grant rights on groups', () => {
    expect(found.get(name)?.said).not.toContain('grant READ');
  });
});

test.each(Object.entries(CLUSTERS))('of a cluster, %s: the check of event store names the cause', (name, says) => {
  expect(found.get(`cluster: ${name}`)?.of('event store')).toEqual([expect.stringMatching(says)]);
});
