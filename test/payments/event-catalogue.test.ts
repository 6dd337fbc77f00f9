import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { loadCatalogue } from '../../src/payments/event-catalogue.js';
import { InvalidConfig } from '../../src/settings/invalid-config.js';
import { EVENT_TYPES } from '../../src/webhooks/limits.js';
import { startApi } from '../support/scenes/api-fixture.js';
import { temporaryDirectory } from '../support/scenes/temporary-directory.js';

const AMOUNT = { type: 'string', pattern: '^\\d+[.]\\d\\d$' };
const CASH_IN = {
  description: 'Money came in.',
  type: 'object',
  required: ['amount'],
  properties: { accountId: { type: 'integer' }, amount: AMOUNT },
  additionalProperties: false,
  examples: [{ amount: '10.00' }],
};

let folder: ReturnType<typeof temporaryDirectory>;
beforeEach(() => {
  folder = temporaryDirectory();
});
afterEach(() => folder.remove());

const put = (name: string, content: unknown) =>
  writeFileSync(join(folder.path, name), typeof content === 'string' ? content : JSON.stringify(content));

describe('a folder', () => {
  it('describes the types that it has a file of; the others have our description and any data', () => {
    put('cash_in.json', CASH_IN);
    mkdirSync(join(folder.path, '..data'));
    const catalogue = loadCatalogue(folder.path);
    expect([...catalogue.keys()]).toEqual([...EVENT_TYPES]);
    const { problem, ...shown } = catalogue.get('cash_in') ?? {};
    expect(shown).toEqual({
      type: 'cash_in',
      description: 'Money came in.',
      schema: CASH_IN,
      example: { amount: '10.00' },
      paths: { amount: ['data', 'amount'], reference: ['data', 'endToEndId'] },
    });
    expect(catalogue.get('cash_out')).toMatchObject({ schema: null, example: null, description: /./ });
    expect(catalogue.get('cash_out')?.problem({ any: 'thing' })).toBeNull();
    expect(problem?.({ amount: '1.00' })).toBeNull();
  });

  it('names the fields of amount and reference of a type; the others have theirs by default', () => {
    put('cash_in.json', { 'x-amount': 'data.sum.total' });
    put('cash_out.json', { 'x-reference': 'data.txid' });
    const catalogue = loadCatalogue(folder.path);
    const [amount, reference] = [
      ['data', 'amount'],
      ['data', 'endToEndId'],
    ];
    expect(catalogue.get('cash_in')).toMatchObject({ paths: { amount: ['data', 'sum', 'total'], reference } });
    expect(catalogue.get('cash_out')).toMatchObject({ paths: { amount, reference: ['data', 'txid'] } });
    expect(catalogue.get('refund_in')).toMatchObject({ paths: { amount, reference } });
  });

  it('accepts indices of lists in a path, in both spellings', () => {
    put('cash_in.json', { 'x-reference': 'data.pix[0].endToEndId', examples: [{ pix: [{ endToEndId: 'E1' }] }] });
    put('cash_out.json', { 'x-reference': 'data.pix.0.endToEndId' });
    const reference = ['data', 'pix', '0', 'endToEndId'];
    const catalogue = loadCatalogue(folder.path);
    for (const type of ['cash_in', 'cash_out'] as const)
      expect(catalogue.get(type)?.paths.reference).toEqual(reference);
  });

  it.each(['data.txId', 'data.pix[1].endToEndId', 'data.pix.length', 'data.pix'])(
    'refuses the path %s, which finds nothing in any example',
    (path) => {
      put('cash_in.json', { 'x-reference': path, examples: [{ pix: [{ endToEndId: 'E1' }], txid: 'a' }] });
      expect(() => loadCatalogue(folder.path)).toThrow(/x-reference of cash_in[.]json finds nothing in the examples/);
    },
  );

  it.each([7, null, '', 'data', 'data.', 'data..amount', 'amount', ['data', 'amount']])(
    'with the path %j is refused, by a message that names file and field',
    (path) => {
      put('cash_in.json', { 'x-reference': path });
      expect(() => loadCatalogue(folder.path)).toThrow(/: x-reference of cash_in[.]json names no field of data/);
      expect(() => loadCatalogue(folder.path)).toThrow(InvalidConfig);
    },
  );

  it.each([
    ['cash.json', {}, /cash[.]json is not named after an event type/],
    ['cash_in.json', '{', /cash_in[.]json is no JSON$/],
    ['cash_in.json', [], /cash_in[.]json is no JSON object/],
    ['med_created.json', { type: 'objekt' }, /med_created[.]json is no JSON Schema: .*type/],
    ['cash_in.json', { $ref: 'other.json' }, /cash_in[.]json is no JSON Schema: .*other[.]json/],
    ['cash_in.json', { ...CASH_IN, examples: [{}] }, /an example in cash_in[.]json .* data .* property 'amount'/],
  ])('with %s of %j is refused, by a message that names the file', (name, content, message) => {
    put(name, content);
    expect(() => loadCatalogue(folder.path)).toThrow(InvalidConfig);
    expect(() => loadCatalogue(folder.path)).toThrow(message);
    expect(() => loadCatalogue(folder.path)).toThrow(/^EVENT_SCHEMAS names /);
  });

  it('that is not there stops the start', async () => {
    await expect(startApi({ EVENT_SCHEMAS: join(folder.path, 'nowhere') })).rejects.toThrow(/^EVENT_SCHEMAS names /);
  });
});
