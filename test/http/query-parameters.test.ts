/** What each parameter of each query refuses, from its own description in /openapi.json: cursors that lead nowhere are tested with their lists. */
import { randomUUID } from 'node:crypto';
import { enveloped } from '../../src/webhooks/envelope.js';
import { accountStream } from '../../src/webhooks/events.js';
import { fetchDocument, type Json } from '../support/clients/documented.js';
import { added, CONTEXT } from '../support/generators/webhook-samples.js';
import { type BareApi, startBareApi } from '../support/scenes/bare-api.js';

let bare: BareApi;
beforeAll(async () => {
  bare = await startBareApi();
  await bare.store.append(accountStream(42), enveloped([added(1)], CONTEXT, randomUUID), 0);
});
afterAll(() => bare.close());

const TIMES = [
  ...['yesterday', '1763715600000', '21.11.2026', '2026-13-01', '2026-02-30', '2026-02-30T09:00:00Z', '0000-01-01x'],
  ...['2026-11-21T09:00:00', '2026-11-21T25:00:00Z', '2026-11-21T09:00:00ZZ', '2026-04-31T00:00:00-03:00'],
];

/** Null: any text is taken, once. */
function wrongFor({ type, format, enum: values, maximum, pattern }: Json): readonly string[] | null {
  if (format === 'date-time') return TIMES;
  if (Array.isArray(values)) return ['lost', 'constructor', String(values[0]).toUpperCase(), ` ${values[0]}`];
  if (type === 'boolean') return ['1', 'TRUE', 'yes'];
  if (type === 'integer') return ['0', '-1', 'x', '1e1', '5.0', '01', ' 5', `${BigInt(Number(maximum)) + 2n}`];
  return pattern === undefined ? null : ['\0', 'A b', 'a%b'];
}

/** The names of the fields that are refused; none for another answer than 400. */
async function refused(path: string, query: string): Promise<string[]> {
  const url = `${bare.url}${path.replace('{id}', '1')}?${query}`;
  const answer = await fetch(url, { headers: { authorization: 'Bearer caller-42' } });
  const { errors = [] } = (await answer.json()) as { errors?: { field: string }[] };
  return answer.status === 400 ? errors.map(({ field }) => field) : [];
}

async function reads() {
  const { paths, components } = await fetchDocument(bare.url);
  const meant = (schema: Json) =>
    components.schemas[
      String(schema.$ref ?? '')
        .split('/')
        .at(-1) ?? ''
    ] ?? schema;
  return Object.entries(paths).flatMap(([path, { get }]) => {
    const parameters = (get?.parameters ?? []).filter(({ in: place }) => place === 'query');
    return parameters.map(({ name, schema }) => ({ path, name, schema: meant(schema) }));
  });
}

it('a value that its description does not allow is 400 and named, and so is a parameter that is given twice', async () => {
  const parameters = await reads();
  expect(parameters.length).toBeGreaterThan(40);
  for (const { path, name, schema } of parameters) {
    const wrong = wrongFor(schema);
    const queries = [
      ...['', ...(wrong ?? [])].map((value) => `${name}=${encodeURIComponent(value)}`).slice(wrong ? 0 : 1),
      `${name}=a&${name}=b`,
    ];
    for (const query of queries) {
      expect({ path, query, refused: await refused(path, query) }).toEqual({
        ...{ path, query },
        refused: expect.arrayContaining([name]),
      });
    }
  }
});

it('every parameter that is wrong is named', async () => {
  expect(await refused('/api/webhooks/{id}/deliveries', 'limit=0&before=&outcome=x&from=x&to=x')).toEqual(
    ['limit', 'before', 'outcome', 'from', 'to'], // biome-ignore format: one list
  );
});

it('no period ends before it begins', async () => {
  const periods = (await reads()).filter(({ name }) => name === 'from');
  expect(periods.length).toBeGreaterThan(3);
  for (const { path } of periods) {
    expect([path, ...(await refused(path, 'from=2026-11-22&to=2026-11-21'))]).toEqual([path, 'to']);
  }
});
