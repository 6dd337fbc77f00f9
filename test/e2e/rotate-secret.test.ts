import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import { describeBackbones } from '../support/backbones.js';
import { eventually } from '../support/eventually.js';
import { commandLine } from '../support/in-process-cli.js';
import { type ServiceHere, serveHere } from '../support/in-process-service.js';
import { type ReceivedRequest, type Receiver, startReceiver } from '../support/receiver.js';
import { run, type Settings } from '../support/service.js';
import { addWebhook, installation, paymentEvents, register, tokenFor } from '../support/story.js';

const ACCOUNT = 42;
const PATIENCE = { timeout: 20_000 };

describeBackbones((backbone) => {
  let receiver: Receiver;
  let settings: Settings;
  let remove: () => Promise<void>;
  let service: ServiceHere;

  beforeAll(async () => {
    receiver = await startReceiver();
    ({ settings, remove } = await installation([receiver], backbone));
    service = await serveHere(settings);
  });

  afterAll(async () => {
    await service?.stop();
    await receiver?.close();
    await remove?.();
  });

  async function delivered(prefix: string): Promise<ReceivedRequest> {
    expect((await commandLine(settings, ['events', 'publish'], paymentEvents(ACCOUNT, 1, prefix))).code).toBe(0);
    return eventually(() => receiver.requests.find(({ body }) => body.includes(prefix)), PATIENCE);
  }

  async function rotated(accountId = ACCOUNT): Promise<string> {
    const { stdout } = await commandLine(settings, ['accounts', 'rotate-secret', String(accountId), '--json']);
    return (JSON.parse(stdout) as { signingSecret: string }).signingSecret;
  }

  function verifies(secret: string, { body, headers }: ReceivedRequest): boolean {
    try {
      new Webhook(secret).verify(String(body), headers as Record<string, string>);
      return true;
    } catch {
      return false;
    }
  }

  /** The service follows the event store: a moment after the command it knows of it. */
  function signedWith(secret: string, prefix: string): Promise<ReceivedRequest> {
    let tries = 0;
    return eventually(async () => {
      tries += 1;
      const request = await delivered(`${prefix}${tries}-`);
      return verifies(secret, request) && request;
    }, PATIENCE);
  }

  test('a running service signs with the rotated secret too, without a restart, and receivers verify with either', async () => {
    const { signingSecret: first, ...account } = await register(settings, ACCOUNT);
    const token = await tokenFor(service.url, { ...account, signingSecret: first });
    const webhook = { url: `${receiver.url}/in`, eventType: 'cash_in' };
    expect(await addWebhook(service.url, token, webhook)).toBe(200);
    const another = (await register(settings, 43)).signingSecret;
    const before = await delivered('before-');

    const second = await rotated();
    const during = await signedWith(second, 'during-');
    const third = await rotated();
    await rotated(43);
    const after = await signedWith(third, 'after-');

    const secrets = [first, second, third, another];
    const verified = (request: ReceivedRequest) => secrets.map((secret) => verifies(secret, request));
    expect(verified(before)).toEqual([true, false, false, false]);
    expect(verified(during)).toEqual([true, true, false, false]);
    expect(verified(after)).toEqual([true, true, true, false]);
  });

  test('it says until when the old secret signs: in text, and to programs', async () => {
    await register(settings, 44);
    const before = Date.now();
    const json = await commandLine(settings, ['accounts', 'rotate-secret', '44', '--json']);
    const answer = JSON.parse(json.stdout) as { previousEndsAt: string };
    expect(Object.keys(answer)).toEqual(['accountId', 'signingSecret', 'previousEndsAt']);
    const left = Date.parse(answer.previousEndsAt) - 24 * 3_600_000;
    expect(left >= before && left <= Date.now()).toBe(true);
    const { stdout } = await run(settings, ['accounts', 'rotate-secret', '44']);
    expect(stdout).toMatch(/^previousEndsAt \d{4}-\d\d-\d\dT[\d:.]+Z$/m);
    expect(stdout).toMatch(/^Until previousEndsAt, deliveries are also signed with the old secret\.$/m);
  });
});
