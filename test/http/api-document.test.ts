import { spawn, spawnSync } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { ERROR, EXAMPLES } from '../../scripts/api-examples.js';
import { apiMarkdown } from '../../scripts/api-markdown.js';
import type { Client } from '../support/clients/api-client.js';
import {
  compiler,
  type DocumentedOperation,
  fetchDocument,
  type OpenApiDocument,
} from '../support/clients/documented.js';
import { fileOf } from '../support/oracles/file-of.js';
import { type RunningApi, startApi } from '../support/scenes/api-fixture.js';

let api: RunningApi;
let client: Client;
let publisher: Awaited<ReturnType<RunningApi['publisher']>>;
let document: OpenApiDocument;

beforeAll(async () => {
  api = await startApi();
  client = await api.account(42);
  publisher = await api.publisher('payments');
  document = await fetchDocument(api.url);
});

afterAll(() => api.close());

function exemplified(): DocumentedOperation[] {
  const operations = Object.values(document.paths).flatMap((methods) => Object.values(methods));
  return operations.filter(({ operationId }) => operationId in EXAMPLES);
}

/** A new service has no delivery: test/http/recover.test.ts has the answers. */
const OF_DELIVERIES = ['startRecovery'];

const successOf = ({ responses }: DocumentedOperation) =>
  (responses[200] ?? responses[201] ?? responses[202])?.content?.['application/json']?.schema ?? {};

it('docs/api.md is what make api-document writes', () => {
  expect(fileOf('docs/api.md')).toBe(apiMarkdown(document));
});

it('every example is of an operation, and its answer is as the document says', () => {
  expect(exemplified()).toHaveLength(Object.keys(EXAMPLES).length);
  const compile = compiler(document);
  for (const operation of exemplified()) {
    const { answer } = EXAMPLES[operation.operationId] ?? {};
    const validate = compile(successOf(operation));
    expect({ answer, valid: !answer || validate(answer), errors: validate.errors }).toMatchObject({ valid: true });
  }
});

it('the error it shows is one that the service gives', async () => {
  const { body } = await client.post({ url: 'http://shop.example.com', eventType: 'cash_in' });
  expect(body).toEqual(ERROR);
});

describe('curl', () => {
  const isThere = spawnSync('curl', ['--version']).status === 0;

  /** What the example's own line prints. */
  async function answered(line: string): Promise<unknown> {
    const { clientId: CLIENT_ID, clientSecret: CLIENT_SECRET } = client.credential;
    const tokens = { TOKEN: client.token, PUBLISHER_TOKEN: publisher.token, CLIENT_ID, CLIENT_SECRET };
    const child = spawn('sh', ['-c', line], { env: { PATH: process.env.PATH, SERVICE: api.url, ...tokens } });
    return JSON.parse(await text(child.stdout));
  }

  if (isThere) {
    it('with the lines of the examples gets answers as the document says', async () => {
      const compile = compiler(document);
      const tried = exemplified().filter(({ operationId }) => !OF_DELIVERIES.includes(operationId));
      for (const operation of tried) {
        const answer = await answered(EXAMPLES[operation.operationId]?.curl ?? '');
        const validate = compile(successOf(operation));
        expect({ id: operation.operationId, answer, valid: validate(answer) }).toMatchObject({ valid: true });
      }
    });
  } else it.skip('IS NOT THERE: the examples of docs/api.md are not tried', () => undefined);
});
