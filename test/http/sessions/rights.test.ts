/** Every operation of the document that takes a session, with each single right. */
import { RIGHTS, type Right } from '../../../src/webhooks/limits.js';
import type { Client } from '../../support/clients/api-client.js';
import { fetchDocument, type OpenApiDocument } from '../../support/clients/documented.js';
import { Browser, opened } from '../../support/clients/portal-session.js';
import { type RunningApi, startApi } from '../../support/scenes/api-fixture.js';

/** By the right that they need. An operation that is not here, or needs another, fails this test: decide which. */
const NEEDING: Readonly<Record<Right, readonly string[]>> = {
  read: [
    ...['listWebhooks', 'showWebhook', 'showWebhooksHealth', 'listDeliveries', 'listAccountDeliveries', 'showDelivery'],
    ...['previewRecovery', 'listRecoveries', 'showRecovery', 'showNotices', 'listEvents', 'showStats'],
    ...['listEventTypes', 'listHistory', 'showClientCertificate'],
  ],
  payloads: [],
  resend: ['resendDelivery', 'cancelDelivery'],
  configure: [
    ...['registerWebhook', 'updateWebhook', 'removeWebhook', 'moveWebhooks', 'testWebhook', 'startRecovery'],
    ...['startRecoveryOfSeveral', 'stopRecovery', 'setNotices', 'removeNotices', 'testNotices'],
  ],
  secrets: ['listSigningSecrets', 'rotateSigningSecret', 'listCredentials', 'listSessions', 'endSession'],
};
const NEEDED = new Map(RIGHTS.flatMap((right) => NEEDING[right].map((id) => [id, right] as const)));

let api: RunningApi;
let client: Client;
let document: OpenApiDocument;

beforeAll(async () => {
  api = await startApi();
  client = await api.account(42);
  document = await fetchDocument(api.url);
});

afterAll(() => api.close());

const ofSessions = () =>
  Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter(([, { security }]) => security.some((scheme) => 'session' in scheme) && security.length > 1)
      .map(([method, { operationId }]) => ({ method: method.toUpperCase(), path, operationId })),
  );

function ask(caller: Pick<Client, 'send'>, { method, path }: { method: string; path: string }) {
  return caller.send(method, path.replace('{id}', '7'), ['GET', 'DELETE'].includes(method) ? {} : { json: {} });
}

it('each operation that takes a session has a right in this table', () => {
  expect(new Set(ofSessions().map(({ operationId }) => operationId))).toEqual(new Set(NEEDED.keys()));
});

it.each(RIGHTS)(
  'with only %s a session may do what needs it, and is told the right that all else needs',
  async (right) => {
    const browser = await Browser.in(api.url, await opened(client, { can: [right] }));
    for (const operation of ofSessions()) {
      const { operationId } = operation;
      const needed = NEEDED.get(operationId);
      const { status, body } = await ask(browser, operation);
      expect({ operationId, isForbidden: status === 403 }).toEqual({ operationId, isForbidden: needed !== right });
      if (status === 403) expect(body.message).toBe(`this session has not the right ${needed}`);
    }
    expect((await browser.send('GET', '/console/session')).status).toBe(200);
  },
);

it('a token of the account has every right', async () => {
  for (const operation of ofSessions()) {
    const { status } = await ask(client, operation);
    expect({ ...operation, isForbidden: status === 403 }).toEqual({ ...operation, isForbidden: false });
  }
});
