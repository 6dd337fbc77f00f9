import { spawn, spawnSync } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { curlOf, ERROR, EXAMPLES } from '../../scripts/api-examples.js';
import { apiMarkdown } from '../../scripts/api-markdown.js';
import { type Client, type RunningApi, startApi } from '../support/api-fixture.js';
import { compiler, type DocumentedOperation, fetchDocument, type OpenApiDocument } from '../support/documented.js';
import { fileOf } from '../support/operations-chapter.js';
import { Browser, codeIn, opened } from '../support/portal-session.js';

/** Removed after all that speaks of it. */
const LAST = 'removeWebhook';

let api: RunningApi;
let client: Client;
let publisher: Awaited<ReturnType<RunningApi['publisher']>>;
let document: OpenApiDocument;

beforeAll(async () => {
  // The URL of the examples may lead nowhere here: a test of it ends soon.
  api = await startApi({ DELIVERY_TIMEOUT: '500ms' });
  client = await api.account(42);
  publisher = await api.publisher('payments');
  document = await fetchDocument(api.url);
});

afterAll(() => api.close());

function operations(): { method: string; path: string; operation: DocumentedOperation }[] {
  const all = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ method, path, operation })),
  );
  return all.sort((a, b) => Number(a.operation.operationId === LAST) - Number(b.operation.operationId === LAST));
}

/** A new service has no delivery, and so no recovery: test/http/recover.test.ts has the answers. */
const OF_DELIVERIES = [
  'showDelivery',
  'resendDelivery',
  'cancelDelivery',
  'startRecovery',
  'startRecoveryOfSeveral',
  'showRecovery',
  'stopRecovery',
];
/** After the example that removes what it needs. */
const ONCE_REMOVED = ['testNotices'];
const isTried = ({ operation }: { readonly operation: DocumentedOperation }) =>
  ![...OF_DELIVERIES, ...ONCE_REMOVED].includes(operation.operationId);

const successOf = ({ responses }: DocumentedOperation) =>
  (responses[200] ?? responses[201] ?? responses[202])?.content?.['application/json']?.schema ?? {};

it('docs/api.md is what make api-document writes', () => {
  expect(fileOf('docs/api.md')).toBe(apiMarkdown(document));
});

it('every operation has an example whose answer is as the document says', () => {
  const compile = compiler(document);
  for (const { operation } of operations()) {
    const validate = compile(successOf(operation));
    const answer = EXAMPLES[operation.operationId]?.answer;
    expect({ id: operation.operationId, valid: validate(answer), errors: validate.errors }).toMatchObject({
      valid: true,
    });
  }
});

it('the error it shows is one that the service gives', async () => {
  const { body } = await client.post({ url: 'http://shop.example.com', eventType: 'cash_in' });
  expect(body).toEqual(ERROR);
});

describe('curl', () => {
  const isThere = spawnSync('curl', ['--version']).status === 0;

  /** What the example's own line prints. */
  async function answered(line: string, session: Readonly<Record<string, string>>): Promise<unknown> {
    const { clientId, clientSecret } = client.credential;
    const tokens = { TOKEN: client.token, PUBLISHER_TOKEN: publisher.token };
    const env = { PATH: process.env.PATH, SERVICE: api.url, ...tokens, ...session };
    const child = spawn('sh', ['-c', line], { env: { ...env, CLIENT_ID: clientId, CLIENT_SECRET: clientSecret } });
    return JSON.parse(await text(child.stdout));
  }

  if (isThere) {
    it('with the lines of the examples gets answers as the document says', async () => {
      const compile = compiler(document);
      const [another, session] = [await opened(client), await opened(client)];
      const { cookie: COOKIE, sessionId } = await Browser.in(api.url, await opened(client));
      const variables = { CODE: codeIn(session), COOKIE };
      for (const { method, path, operation } of operations().filter(isTried)) {
        const SESSION_ID = path === '/console/session' ? sessionId : another.id;
        const answer = await answered(curlOf(method, path, operation), { ...variables, SESSION_ID });
        const validate = compile(successOf(operation));
        expect({ id: operation.operationId, answer, valid: validate(answer) }).toMatchObject({ valid: true });
      }
    });
  } else it.skip('IS NOT THERE: the examples of docs/api.md are not tried', () => undefined);
});
