/** A dispatcher's installation with ACCOUNT, receivers as its webhooks, and the requests they got. */
import { ACCOUNT } from '../generators/delivery-samples.js';
import { type ReceivedRequest, type Receiver, type ReceiverOptions, startReceiver } from '../servers/receiver.js';
import { temporaryDirectory } from '../temporary-directory.js';
import { type DispatcherFixture, openInstallation } from './dispatcher-fixture.js';

export class AccountFixture {
  readonly #directory: ReturnType<typeof temporaryDirectory>;
  readonly #receivers: Receiver[] = [];
  #opened: DispatcherFixture;
  /** The account's signing secret. */
  readonly secret: string;

  private constructor(directory: ReturnType<typeof temporaryDirectory>, opened: DispatcherFixture, secret: string) {
    this.#directory = directory;
    this.#opened = opened;
    this.secret = secret;
  }

  static async open(): Promise<AccountFixture> {
    const directory = temporaryDirectory();
    const opened = await openInstallation(directory.path);
    return new AccountFixture(directory, opened, await opened.account(ACCOUNT));
  }

  /** The current one: restart replaces it. */
  get installation(): DispatcherFixture {
    return this.#opened;
  }

  async receiver(options: ReceiverOptions = {}): Promise<Receiver> {
    const started = await startReceiver(options);
    this.#receivers.push(started);
    return started;
  }

  /** Starts a receiver as webhook `id` of the account. */
  async webhook(id: number, options: ReceiverOptions = {}): Promise<Receiver> {
    const started = await this.receiver(options);
    await this.#opened.webhook({ id, accountId: ACCOUNT, url: `${started.url}/in` });
    return started;
  }

  async restart(): Promise<void> {
    await this.#opened.close();
    this.#opened = await openInstallation(this.#directory.path);
  }

  async close(): Promise<void> {
    await this.#opened.close();
    for (const { close } of this.#receivers.splice(0).reverse()) await close();
    this.#directory.remove();
  }
}

export const eventId = ({ body }: ReceivedRequest) => (JSON.parse(body.toString()) as { id: string }).id;
export const webhookId = ({ headers }: ReceivedRequest) => String(headers['webhook-id']);
