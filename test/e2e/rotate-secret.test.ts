import { Webhook } from 'standardwebhooks';
import { describeBackbones } from '../support/backbones.js';
import { eventually } from '../support/eventually.js';
import type { ReceivedRequest } from '../support/receiver.js';
import { Served } from '../support/served.js';
import { run } from '../support/service.js';
import { paymentEvents, register } from '../support/story.js';

const PATIENCE = { timeout: 20_000 };

describeBackbones((backbone) => {
  const served = Served.around({ backbone });

  async function delivered(prefix: string): Promise<ReceivedRequest> {
    await served.publish(paymentEvents(42, 1, prefix));
    return eventually(() => served.receiver.requests.find(({ body }) => body.includes(prefix)), PATIENCE);
  }

  async function rotated(accountId = 42): Promise<string> {
    const { stdout } = await served.command('accounts', 'rotate-secret', String(accountId), '--json');
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

  test('a running service signs with the rotated secret too, without a restart, and receivers verify with either until the old ones are revoked', async () => {
    const first = served.account.signingSecret;
    expect(await served.addWebhook('/in')).toBe(200);
    const another = (await register(served.settings, 43)).signingSecret;
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

    const { secret: last } = await served.call<{ secret: string }>('POST', '/api/signing-secrets', {
      revokePrevious: true,
    });
    const revoked = await delivered('revoked-');
    expect([last, ...secrets].map((secret) => verifies(secret, revoked))).toEqual([true, false, false, false, false]);
  });

  test('it says until when the old secret signs: in text, and to programs', async () => {
    await register(served.settings, 44);
    const before = Date.now();
    const json = await served.command('accounts', 'rotate-secret', '44', '--json');
    const answer = JSON.parse(json.stdout) as { previousEndsAt: string };
    expect(Object.keys(answer)).toEqual(['accountId', 'signingSecret', 'previousEndsAt']);
    const left = Date.parse(answer.previousEndsAt) - 24 * 3_600_000;
    expect(left >= before && left <= Date.now()).toBe(true);
    const { stdout } = await run(served.settings, ['accounts', 'rotate-secret', '44']);
    expect(stdout).toMatch(/^previousEndsAt \d{4}-\d\d-\d\dT[\d:.]+Z$/m);
    expect(stdout).toMatch(/^Until previousEndsAt, deliveries are also signed with the old secret\.$/m);
  });
});
