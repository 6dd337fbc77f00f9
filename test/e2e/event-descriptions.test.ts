/** The mission defines the wording of each event type; every place that explains the types to people uses exactly it. */
import { en } from '../../src/console/texts/en.js';
import { ptBr } from '../../src/console/texts/pt-br.js';
import { fetchDocument, type OpenApiDocument } from '../support/clients/documented.js';
import { run } from '../support/clients/service.js';
import { fileOf } from '../support/oracles/file-of.js';
import { type RunningApi, startApi } from '../support/scenes/api-fixture.js';

const WORDING = {
  cash_in: 'Instant payment received',
  cash_out: 'Instant payment sent',
  refund_in: 'Refund of a received payment (refund requested)',
  refund_out: 'Refund received',
  med_created: 'A special refund mechanism (MED) case opened against a transaction',
  med_accepted: 'A MED refund request approved',
  med_rejected: 'A MED refund request rejected',
};

const PORTUGUESE = {
  cash_in: 'Pagamento instantâneo recebido',
  cash_out: 'Pagamento instantâneo enviado',
  refund_in: 'Devolução de um pagamento recebido (devolução solicitada)',
  refund_out: 'Devolução recebida',
  med_created: 'Caso do mecanismo especial de devolução (MED) aberto contra uma transação',
  med_accepted: 'Pedido de devolução do MED aprovado',
  med_rejected: 'Pedido de devolução do MED rejeitado',
};

let api: RunningApi;
let openApi: OpenApiDocument;

beforeAll(async () => {
  api = await startApi();
  openApi = await fetchDocument(api.url);
});

afterAll(() => api.close());

/** The sentences "`type`: meaning." of a description. */
function toMeanings(description: unknown): Record<string, string> {
  const matches = String(description).matchAll(/`(\w+)`: (.+?)[.](?= |$)/g);
  return Object.fromEntries([...matches].map(([, type = '', meaning = '']) => [type, meaning]));
}

async function readCatalogue(): Promise<Record<string, string>> {
  const client = await api.account(42);
  const { body } = await client.send<{ eventTypes: { type: string; description: string }[] }>(
    'GET',
    '/api/event-types',
  );
  return Object.fromEntries(body.eventTypes.map(({ type, description }) => [type, description]));
}

function readTable(path: string): Record<string, string> {
  const [, rest = ''] = fileOf(path).split('| `type` | meaning |\n|---|---|\n');
  const [table = ''] = rest.split('\n\n');
  return Object.fromEntries(
    [...table.matchAll(/^\| `(\w+)` \| (.*) \|$/gm)].map(([, type, meaning]) => [type, meaning]),
  );
}

const asyncApi = () => JSON.parse(fileOf('docs/asyncapi.json')).components.schemas.paymentEvent;

describe('the meaning of each event type', () => {
  it.each<[place: string, read: () => unknown]>([
    ['the catalog', readCatalogue],
    ['/openapi.json', () => toMeanings(openApi.components.schemas.EventType?.description)],
    ['/asyncapi.json', () => toMeanings(asyncApi().properties.type.description)],
    ['docs/payment-events.md', () => readTable('docs/payment-events.md')],
    ['the console in English', () => en.typesExplained],
  ])('has the wording of the mission in %s', async (_, read) => {
    expect(await read()).toEqual(WORDING);
  });

  it('is translated faithfully in the Portuguese console', () => {
    expect(ptBr.typesExplained).toEqual(PORTUGUESE);
  });

  it.each([
    [en.eventTypes, { refund_in: 'Refund requested', refund_out: 'Refund received' }],
    [ptBr.eventTypes, { refund_in: 'Devolução solicitada', refund_out: 'Devolução recebida' }],
  ])('agrees with the short names %j of the console', (names, refunds) => {
    expect(names).toMatchObject(refunds);
  });

  it('is printed by the demo for the type that it publishes', async () => {
    const { code, stderr } = await run({}, ['demo', '--json']);
    expect(code).toBe(0);
    expect(stderr).toContain(`3. A payment system publishes 5 events of the type cash_in: ${WORDING.cash_in}\n`);
  });
});
