import type { Client } from '../support/clients/api-client.js';
import { eventually } from '../support/clocks/eventually.js';
import { type RunningApi, startApi } from '../support/scenes/api-fixture.js';
import { sendTest, type TestedWebhooks, withTestedWebhooks } from '../support/scenes/tested-webhooks.js';
import type { Reply } from '../support/servers/receiver.js';

const ACCOUNT = 42;

let tested: TestedWebhooks;
let api: RunningApi;
let client: Client;
withTestedWebhooks((given) => {
  tested = given;
  ({ api, client } = given);
});

describe('a test of a webhook', () => {
  it('is one at a time to a URL, whatever the type, and of other URLs meanwhile', async () => {
    const other = await api.account(7);
    const [one, same, another] = [
      await tested.register(client, '/slow', 'med_accepted'),
      await tested.register(client, '/slow', 'med_rejected'),
      await tested.register(client, '/quick', 'med_accepted'),
    ];
    const others = await tested.register(other, '/slow');
    let answer: (reply: Reply) => void = () => undefined;
    tested.replies.set('/slow', new Promise((resolve) => (answer = resolve)));
    const first = sendTest(client, one);
    await eventually(() => tested.requestsAt('/slow').length === 1);
    for (const id of [one, same]) {
      const { status, headers, body } = await sendTest(client, id);
      expect([status, headers.get('retry-after')]).toEqual([429, expect.stringMatching(/^[1-9]\d*$/)]);
      expect(body).toMatchObject({ code: 'test-running' });
    }
    expect((await sendTest(client, another)).body).toMatchObject({ success: true });
    const second = sendTest(other, others);
    await eventually(() => tested.requestsAt('/slow').length === 2);
    answer({ status: 200 });
    for (const { body } of [await first, await second]) expect(body).toMatchObject({ success: true });
    expect((await sendTest(client, same)).body).toMatchObject({ success: true });
  });

  it('needs no body and looks at none', async () => {
    const caller = await api.account(1_000);
    const id = await tested.register(caller, '/bodies');
    const headers = { 'content-type': 'application/json' };
    for (const given of [
      {},
      { bytes: Buffer.from('{') },
      { headers, bytes: '{"data":' },
      { bytes: 'x'.repeat(65_536) },
    ])
      expect(await sendTest(caller, id, given)).toMatchObject({ status: 200, body: { success: true } });
  });

  it("another account's is 404, one that was removed too", async () => {
    const id = await tested.register(client, '/mine', 'refund_in');
    expect((await sendTest(await api.account(8), id)).status).toBe(404);
    await client.remove(id);
    expect((await sendTest(client, id)).status).toBe(404);
    expect(tested.requestsAt('/mine')).toEqual([]);
  });

  it('is one of 30 a minute of its account', async () => {
    const [caller, other] = [await api.account(9), await api.account(10)];
    for (let n = 0; n < 30; n += 1) expect((await sendTest(caller, 99_999)).status).toBe(404);
    const { status, headers } = await sendTest(caller, 99_999);
    expect([status, headers.get('retry-after')]).toEqual([429, expect.stringMatching(/^[12]$/)]);
    expect((await sendTest(other, 99_999)).status).toBe(404);
  });

  it('of a URL that keeps failing is sent all the same, and says when it works again', async () => {
    const caller = await api.account(11);
    const id = await tested.register(caller, '/fails');
    tested.replies.set('/fails', { status: 500 });
    for (let n = 0; n < 10; n += 1) expect((await sendTest(caller, id)).body).toMatchObject({ success: false });
    expect(await sendTest(caller, id)).toMatchObject({ status: 200, body: { success: false } });
    tested.replies.delete('/fails');
    expect(await sendTest(caller, id)).toMatchObject({ status: 200, body: { success: true } });
    expect(tested.requestsAt('/fails')).toHaveLength(12);
  });
});

it('a stop of the service ends a test that is under way, and its caller hears of it', async () => {
  const api = await startApi({ ...tested.settings, DELIVERY_TIMEOUT: '60s' });
  const client = await api.account(ACCOUNT);
  const id = await tested.register(client, '/at-the-stop');
  tested.replies.set('/at-the-stop', 'hang');
  const answer = sendTest(client, id);
  await eventually(() => tested.requestsAt('/at-the-stop').length === 1);
  await Promise.all([api.close(), answer]);
  expect(await answer).toMatchObject({ status: 503, body: { code: 'test-interrupted' } });
  expect((await answer).headers.get('retry-after')).toBe('1');
});
