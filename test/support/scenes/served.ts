/** What most end-to-end tests stand on: an installation with one receiver, its service, and account 42 with a token. */
import type { Role } from '../../../src/composition/app.js';
import { commandLine } from '../clients/in-process-cli.js';
import { serveHere } from '../clients/in-process-service.js';
import { jsonLines, type Service, type Settings, serve } from '../clients/service.js';
import { type Receiver, type ReceiverOptions, startReceiver } from '../servers/receiver.js';
import type { Backbone } from './backbones.js';
import { type Account, addWebhook, installation, publishEvents, register, tokenFor } from './story.js';

const ACCOUNT = 42;

export interface ServedOptions extends Pick<ReceiverOptions, 'respond' | 'tls'> {
  readonly backbone?: Backbone;
  /** Beside those of the installation. */
  readonly settings?: Settings;
  /** Default: it runs in the test's own process. */
  readonly isProcess?: boolean;
}

type Running = Pick<Service, 'url' | 'adminUrl' | 'log'> & { stop(signal?: NodeJS.Signals): Promise<unknown> };

export class Served {
  receiver!: Receiver;
  /** The next start of the service, and commands, have these. */
  settings!: Settings;
  service!: Running;
  account!: Account;
  token!: string;
  readonly #options: ServedOptions;
  #remove: () => unknown = () => undefined;

  private constructor(options: ServedOptions) {
    this.#options = options;
  }

  /** Opened before the tests of the block that calls this, and closed after them. */
  static around(options: ServedOptions = {}): Served {
    const served = new Served(options);
    beforeAll(() => served.#open());
    afterAll(() => served.#close());
    return served;
  }

  async #open(): Promise<void> {
    const { backbone, settings, ...receiver } = this.#options;
    this.receiver = await startReceiver(receiver);
    const installed = await installation([this.receiver], backbone);
    this.#remove = installed.remove;
    this.settings = { ...installed.settings, ...settings };
    await this.serve();
    this.account = await register(this.settings, ACCOUNT);
    this.token = await tokenFor(this.service.url, this.account);
  }

  async #close(): Promise<void> {
    await this.service?.stop();
    await this.receiver?.close();
    await this.#remove();
  }

  /** Also anew, after a stop. */
  async serve(more: Settings = {}, roles?: readonly Role[]): Promise<void> {
    const settings = { ...this.settings, ...more };
    if (this.#options.isProcess) {
      const { stop, ...service } = await serve(settings);
      this.service = { ...service, stop: (signal = 'SIGTERM') => stop(signal) };
    } else this.service = await serveHere(settings, roles);
  }

  async restart(more: Settings = {}, roles?: readonly Role[]): Promise<void> {
    await this.service.stop();
    await this.serve(more, roles);
  }

  addWebhook(path: string, eventType = 'cash_in', headers?: readonly { key: string; value: string }[]) {
    return addWebhook(this.service.url, this.token, {
      url: this.receiver.url + path,
      eventType,
      ...(headers && { headers }),
    });
  }

  publish(events: string): Promise<void> {
    return publishEvents(this.settings, events);
  }

  command(...args: readonly string[]) {
    return commandLine(this.settings, args);
  }

  /** What a command prints with --json. @throws where it fails */
  async lines<T = Record<string, unknown>>(...args: readonly string[]): Promise<T[]> {
    const { code, stdout, stderr } = await this.command(...args, '--json');
    if (code !== 0) throw new Error(stderr);
    return jsonLines(stdout);
  }

  /** Asks the service with the account's token. @returns the body */
  async call<T>(method: string, path: string, json?: object): Promise<T> {
    const { body } = await this.ask(method, path, json);
    return body as T;
  }

  /** @param token by default the account's */
  async ask(method: string, path: string, json?: object, token = this.token) {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const body = json ? { body: JSON.stringify(json) } : {};
    const response = await fetch(this.service.url + path, { method, headers, ...body });
    const text = await response.text();
    return { status: response.status, headers: response.headers, body: text && (JSON.parse(text) as unknown) };
  }
}
