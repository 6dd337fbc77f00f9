/** An installation with planted secrets only, and all output of its service and its commands. */
import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { topicRecords } from '../../../src/ports/topic-records.js';
import { masterKey } from '../../../src/secrets/master-keys.js';
import { commandLine } from '../clients/in-process-cli.js';
import type { Finished, Service, Settings } from '../clients/service.js';
import type { Find, PlantedSecrets } from '../oracles/planted-secrets.js';
import type { ReceivedRequest, Reply } from '../servers/receiver.js';
import type { FaultScene } from './fault-scene.js';
import { type Account, tokenFor } from './story.js';

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

/** Of an installation all of whose secrets are planted, and whose service and commands say all that they can. */
export function plantedSettings(secrets: PlantedSecrets): Settings {
  return {
    MASTER_KEY: plantKey(secrets, 'MASTER_KEY'),
    MASTER_KEY_PREVIOUS: plantKey(secrets, 'MASTER_KEY_PREVIOUS'),
    RETRY_SCHEDULE: '100ms,200ms',
    LOG_LEVEL: 'trace',
  };
}

export class PlantedInstallation {
  readonly said: Said[] = [];
  readonly #scene: FaultScene;
  readonly #secrets: PlantedSecrets;

  constructor(scene: FaultScene, secrets: PlantedSecrets) {
    this.#scene = scene;
    this.#secrets = secrets;
  }

  /** Runs a command to its end. */
  async command(args: readonly string[], { stdin, more, showsSecrets }: CommandOptions = {}): Promise<Finished> {
    const finished = await commandLine({ ...this.#scene.settings, PORT: '0', ADMIN_PORT: '0', ...more }, args, stdin);
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

  async token(service: Pick<Service, 'url'>, account: Account): Promise<string> {
    const token = await tokenFor(service.url, account);
    this.#secrets.plant('access token', signatureOf(token));
    return token;
  }

  noteOutput({ log, output }: Service): void {
    this.said.push({ where: 'stderr of serve', text: log() }, { where: 'stdout of serve', text: output() });
  }

  /** The files of DATA_DIR. */
  files(): Said[] {
    const folder = this.#scene.settings.DATA_DIR ?? '';
    const names = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
    return names.map(({ name, parentPath }) => ({ where: name, text: readFileSync(join(parentPath, name)) }));
  }

  /** Every record of every topic. */
  records(): Promise<Said[]> {
    return this.#scene.withBroker(async ({ broker }) => {
      const records: Said[] = [];
      for (const topic of await broker.listTopics()) {
        for await (const { key, value, headers } of topicRecords(broker, topic)) {
          const parts = [key, value, ...headers.flatMap(([name, text]) => [Buffer.from(name), text])];
          records.push({ where: `topic ${topic}`, text: Buffer.concat(parts.map((part) => part ?? Buffer.alloc(0))) });
        }
      }
      return records;
    });
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
