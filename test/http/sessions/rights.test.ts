/** Every operation of the document that takes a session, with each single right. */
import { RIGHTS, type Right } from '../../../src/webhooks/limits.js';
import { fetchDocument, type OpenApiDocument } from '../../support/clients/documented.js';
import { Browser, JSON_TYPE, opened } from '../../support/clients/portal-session.js';
import { type Client, type RunningApi, startApi } from '../../support/scenes/api-fixture.js';

/** An operation that is not here, or needs another right, fails this test: decide which right it needs. */
const NEEDED: Readonly<Record<string, Right>> = {
  registerWebhook: 'configure',
  listWebhooks: 'read',
  updateWebhook: 'configure',
  removeWebhook: 'configure',
  testWebhook: 'configure',
  listDeliveries: 'read',
  listAccountDeliveries: 'read',
  resendDelivery: 'resend',
  cancelDelivery: 'resend',
  previewRecovery: 'read',
  startRecovery: 'configure',
  startRecoveryOfSeveral: 'configure',
  listRecoveries: 'read',
  showRecovery: 'read',
  stopRecovery: 'configure',
  showNotices: 'read',
  setNotices: 'configure',
  moveWebhooks: 'configure',
  removeNotices: 'configure',
  testNotices: 'configure',
  showWebhook: 'read',
  showWebhooksHealth: 'read',
  showDelivery: 'read',
  listEvents: 'read',
  showStats: 'read',
  listEventTypes: 'read',
  listHistory: 'read',
  listSigningSecrets: 'secrets',
  rotateSigningSecret: 'secrets',
  listCredentials: 'secrets',
  showClientCertificate: 'read',
  listSessions: 'secrets',
  endSession: 'secrets',
};

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

it('each operation that takes a session has a right in this table', () => {
  expect(
    ofSessions()
      .map(({ operationId }) => operationId)
      .toSorted(),
  ).toEqual(Object.keys(NEEDED).toSorted());
});

describe.each(RIGHTS)('a session with only %s', (right) => {
  it('may do what needs this right, and is told the right that anything else needs', async () => {
    const browser = await Browser.in(api.url, await opened(client, { can: [right] }));
    for (const { method, path, operationId } of ofSessions()) {
      const needed = NEEDED[operationId];
      const given = ['GET', 'DELETE'].includes(method) ? {} : { bytes: '{}' };
      const { status, body } = await browser.send(method, path.replace('{id}', '7'), { headers: JSON_TYPE, ...given });
      const isForbidden = status === 403;
      expect({ operationId, isForbidden }).toEqual({ operationId, isForbidden: needed !== right });
      if (isForbidden) expect(body.message).toBe(`this session has not the right ${needed}`);
    }
    expect((await browser.send('GET', '/console/session')).status).toBe(200);
  });
});

it('a token of the account has every right', async () => {
  for (const { method, path } of ofSessions()) {
    const given = ['GET', 'DELETE'].includes(method) ? {} : { bytes: '{}' };
    const { status } = await client.send(method, path.replace('{id}', '7'), { headers: JSON_TYPE, ...given });
    expect({ method, path, isForbidden: status === 403 }).toEqual({ method, path, isForbidden: false });
  }
});
