/** publishers: the command beside a running service, and what an auditor and a later process see of it. */
import { describeBackbones } from '../support/backbones.js';
import { eventually } from '../support/eventually.js';
import { commandLine } from '../support/in-process-cli.js';
import { type ServiceHere, serveHere } from '../support/in-process-service.js';
import { elsewhere, jsonLines, type Settings } from '../support/service.js';
import { type Account, installation, paymentEvents, tokenFor } from '../support/story.js';

describeBackbones((backbone) => {
  let settings: Settings;
  let remove: () => Promise<void>;
  let services: ServiceHere[] = [];
  const hasServers = backbone.name.startsWith('EventStoreDB');

  beforeAll(async () => {
    ({ settings, remove } = await installation([], backbone));
    const api = { ...settings, KAFKA_PARTITIONS: '1' };
    services = [await serveHere(api, ['api'])];
    if (hasServers) services.push(await serveHere(elsewhere(api), ['api']));
  });

  afterAll(async () => {
    for (const service of services) await service.stop();
    await remove();
  });

  const publishers = (...args: readonly string[]) => commandLine(settings, ['publishers', ...args]);
  const printed = async (...args: readonly string[]) => JSON.parse((await publishers(...args, '--json')).stdout);

  async function published(token: string): Promise<number[]> {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/x-ndjson' };
    const body = paymentEvents(42, 2);
    const post = ({ url }: ServiceHere) => fetch(`${url}/api/payment-events`, { method: 'POST', headers, body });
    const answers = await Promise.all(services.map(post));
    for (const answer of answers) await answer.arrayBuffer();
    return answers.map(({ status }) => status);
  }

  test('a publisher is registered once, under a name that may be one', async () => {
    const publisher = await printed('register', 'Ledger.br-1_x');
    expect(Object.keys(publisher)).toEqual(['name', 'clientId', 'clientSecret']);
    expect(publisher).toMatchObject({ name: 'Ledger.br-1_x', clientId: expect.stringMatching(/^pub_Ledger\.br-1_x_/) });
    const again = await publishers('register', 'Ledger.br-1_x');
    expect(again).toMatchObject({ code: 1, stderr: expect.stringContaining('publisher Ledger.br-1_x is already') });
    for (const name of ['', 'a b', 'ü', 'x'.repeat(65), '../x'])
      expect(await publishers('register', name)).toMatchObject({ code: 2, stdout: '' });
  });

  test('its tokens are taken by every process with the API alone, until its credential is revoked', async () => {
    const publisher: Account = await printed('register', 'ledger');
    const second: Account = await printed('issue-credential', 'ledger');
    const [first] = services;
    const [token, other] = [await tokenFor(String(first?.url), publisher), await tokenFor(String(first?.url), second)];
    expect(await published(token)).toEqual(services.map(() => 202));
    const revoked = await printed('revoke-credential', publisher.clientId);
    expect(revoked).toEqual({ name: 'ledger', clientId: publisher.clientId });
    await eventually(async () => (await published(token)).every((status) => status === 401));
    expect(await published(other)).toEqual(services.map(() => 202));
    const { stdout } = await publishers('list', '--json');
    expect(jsonLines(stdout)).toEqual([
      { name: 'Ledger.br-1_x', clientIds: [expect.any(String)] },
      { name: 'ledger', clientIds: [second.clientId] },
    ]);
    expect((await publishers('list')).stdout).toMatch(/^ledger +pub_ledger_[0-9a-f]{16}$/m);
  });

  test('what is unknown is refused', async () => {
    expect((await publishers('issue-credential', 'nobody')).stderr).toMatch(/publisher nobody is not registered/);
    expect((await publishers('revoke-credential', 'pub_ledger_0123456789abcdef')).stderr).toMatch(/no credential has/);
    expect((await publishers('revoke-credential', 'ledger')).code).toBe(1);
  });

  test('the history has who did it, and an account of the same prefix is another one', async () => {
    const { stdout } = await commandLine(settings, ['audit', 'log', '--publisher', 'ledger', '--json']);
    const entries = jsonLines(stdout);
    expect(entries.map(({ type }) => type)).toEqual([
      ...['PublisherRegistered', 'CredentialIssued', 'CredentialIssued', 'CredentialRevoked'],
    ]);
    for (const { actor } of entries) expect(actor).toMatch(/^cli:/);
    expect((await commandLine(settings, ['audit', 'log', '--publisher', 'ledge'])).code).toBe(1);
    expect((await commandLine(settings, ['audit', 'log'])).code).toBe(2);
    expect((await commandLine(settings, ['doctor'])).stdout).not.toMatch(/publisher ledger|account publisher/);
  });

  if (hasServers) {
    test('the projections of the server fold publishers as the service does', async () => {
      expect((await commandLine(settings, ['projections', 'deploy'])).code).toBe(0);
      expect(await commandLine(settings, ['projections', 'verify'])).toMatchObject({ code: 0, stderr: '' });
    });
  }
});
