/** An installation with planted secrets only, and all output of its service and its commands. */
import { createPrivateKey, randomBytes } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openBackbone } from '../../../src/composition/backbone.js';
import { topicRecords } from '../../../src/ports/topic-records.js';
import { masterKey } from '../../../src/secrets/master-keys.js';
import { readConfig } from '../../../src/settings/read-config.js';
import { commandLine } from '../clients/in-process-cli.js';
import { type Finished, type Service, type Settings, serve } from '../clients/service.js';
import type { Find, PlantedSecrets } from '../oracles/planted-secrets.js';
import { certificateFor } from '../servers/certificates.js';
import type { ReceivedRequest, Reply } from '../servers/receiver.js';
import { silentLogger } from '../silent-logger.js';
import { type Account, installation, tokenFor } from './story.js';

/** The webhooks' header that their receiver echoes. */
export const ECHOED = 'X-Secret';

/** A secret and the place where it was found. */
export interface Leak extends Find {
  readonly where: string;
}

export interface Said {
  readonly where: string;
  readonly text: string | Buffer;
}

interface CommandOptions {
  readonly stdin?: string;
  readonly more?: Settings;
  /** stdout shows secrets once and on purpose. */
  readonly showsSecrets?: boolean;
}

export class PlantedInstallation {
  readonly said: Said[] = [];
  readonly settings: Settings;
  readonly remove: () => Promise<void>;
  readonly #secrets: PlantedSecrets;

  private constructor(secrets: PlantedSecrets, settings: Settings, remove: () => Promise<void>) {
    this.#secrets = secrets;
    this.settings = settings;
    this.remove = remove;
  }

  static async open(secrets: PlantedSecrets, ports: readonly number[]): Promise<PlantedInstallation> {
    const { settings, remove } = await installation([]);
    const planted = {
      ...settings,
      ...(await clientCertificate(secrets, join(settings.DATA_DIR ?? '', '..'))),
      MASTER_KEY: plantKey(secrets, 'MASTER_KEY'),
      MASTER_KEY_PREVIOUS: plantKey(secrets, 'MASTER_KEY_PREVIOUS'),
      ALLOWED_PORTS: ports.join(),
      RETRY_SCHEDULE: '100ms,200ms',
      LOG_LEVEL: 'trace',
    };
    return new PlantedInstallation(secrets, planted, remove);
  }

  /** Runs a command to its end. */
  async command(args: readonly string[], { stdin, more, showsSecrets }: CommandOptions = {}): Promise<Finished> {
    const finished = await commandLine({ ...this.settings, PORT: '0', ADMIN_PORT: '0', ...more }, args, stdin);
    const name = args.slice(0, 2).join(' ');
    this.said.push({ where: `stderr of ${name}`, text: finished.stderr });
    if (!showsSecrets) this.said.push({ where: `stdout of ${name}`, text: finished.stdout });
    return finished;
  }

  /** Its stdout shows the secrets. @returns the account, its secrets planted */
  async account(args: readonly string[]): Promise<Account> {
    const { stdout, stderr } = await this.command(['accounts', ...args, '--json'], { showsSecrets: true });
    if (!stdout) throw new Error(stderr);
    const account = JSON.parse(stdout) as Account;
    const { clientSecret, signingSecret } = account;
    const of = args.join(' ');
    if (clientSecret)
      this.#secrets.plant(`client secret (${of})`, clientSecret, Buffer.from(clientSecret, 'base64url'));
    const base64 = signingSecret?.replace('whsec_', '');
    if (base64) this.#secrets.plant(`signing secret (${of})`, base64, Buffer.from(base64, 'base64'));
    return account;
  }

  async token(service: Service, account: Account): Promise<string> {
    const token = await tokenFor(service.url, account);
    this.#secrets.plant('access token', signatureOf(token));
    return token;
  }

  serve(more: Settings = {}): Promise<Service> {
    return serve({ ...this.settings, ...more });
  }

  noteOutput({ log, output }: Service): void {
    this.said.push({ where: 'stderr of serve', text: log() }, { where: 'stdout of serve', text: output() });
  }

  /** The files of DATA_DIR. */
  files(): Said[] {
    const folder = this.settings.DATA_DIR ?? '';
    const names = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
    return names.map(({ name, parentPath }) => ({ where: name, text: readFileSync(join(parentPath, name)) }));
  }

  /** Every record of every topic. */
  async records(): Promise<Said[]> {
    const { broker, close } = await openBackbone(readConfig(this.settings), silentLogger);
    try {
      const records: Said[] = [];
      for (const topic of await broker.listTopics()) {
        for await (const { key, value, headers } of topicRecords(broker, topic)) {
          const parts = [key, value, ...headers.flatMap(([name, text]) => [Buffer.from(name), text])];
          records.push({ where: `topic ${topic}`, text: Buffer.concat(parts.map((part) => part ?? Buffer.alloc(0))) });
        }
      }
      return records;
    } finally {
      await close();
    }
  }
}

/** Header and claims of a token are no secret, and look like any other JSON in base64. */
export function signatureOf(token: string): string {
  return token.trim().slice(token.lastIndexOf('.') + 1);
}

/** Every secret found in the output. */
export function leaks(secrets: PlantedSecrets, said: readonly Said[]): Leak[] {
  return said.flatMap(({ where, text }) => secrets.foundIn(text).map((find) => ({ where, ...find })));
}

/** A master key, and the keys derived from it. */
function plantKey(secrets: PlantedSecrets, name: string): string {
  const bytes = randomBytes(32);
  for (const purpose of ['sealing', 'access-tokens', 'idempotency'] as const) {
    const derived = masterKey(bytes).derive(purpose);
    secrets.plant(`${purpose} of ${name}`, derived.toString('base64'), derived);
  }
  return secrets.plant(name, bytes.toString('base64'), bytes);
}

/** Echoes the request's secret wherever a response has room for it, and fails in a different way for each path. */
export function echoing(): (request: ReceivedRequest) => Reply {
  const times = new Map<string, number>();
  return ({ path: target, headers }) => {
    const path = target.split('?')[0] ?? '';
    const secret = String(headers[ECHOED.toLowerCase()] ?? 'none');
    const time = (times.get(path) ?? 0) + 1;
    times.set(path, time);
    const escaped = encodeURIComponent(secret);
    const echo = (status: number, more = {}): Reply => ({
      ...{ status, headers: { 'x-echo': secret, 'set-cookie': `secret=${escaped}`, ...more } },
      body: JSON.stringify({ error: `wrong key: ${secret}` }),
    });
    const broken = `HTTP/1.1 500 ${secret}\r\ncontent-length: 9999\r\nx-echo: ${secret}\r\n\r\n${secret}`;
    const replies: Readonly<Record<string, Reply>> = {
      // The first is the test event.
      '/recovers': echo(time <= 2 ? 503 : 200),
      '/fails': echo(500),
      '/gone': echo(410),
      '/redirects': echo(302, { location: `https://localhost/?key=${escaped}` }),
      '/asks-to-wait': echo(429, { 'retry-after': secret }),
      '/no-http': { raw: `${secret} is no HTTP\r\n\r\n` },
      '/breaks-off': { raw: broken },
    };
    return replies[path] ?? echo(200);
  };
}

async function clientCertificate(secrets: PlantedSecrets, folder: string): Promise<Settings> {
  const { cert, key } = await certificateFor(['webhooks.example']);
  const { d = '' } = createPrivateKey(key).export({ format: 'jwk' });
  secrets.plant('client key', d, Buffer.from(d, 'base64url'));
  const [certFile, keyFile] = [join(folder, 'client.pem'), join(folder, 'client-key.pem')];
  writeFileSync(certFile, cert);
  writeFileSync(keyFile, key);
  return { DELIVERY_CLIENT_CERT_FILE: certFile, DELIVERY_CLIENT_KEY_FILE: keyFile };
}
