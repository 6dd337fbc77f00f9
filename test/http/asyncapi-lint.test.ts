/** AsyncAPI's own parser has nothing to say of /asyncapi.json, and reads in it what was meant. */
import type { AsyncAPIDocumentInterface, Parser } from '@asyncapi/parser';
import { fileOf } from '../support/oracles/operations-chapter.js';
import { inFull, testInFull } from '../support/thorough.js';

const ERROR = 0;
const WARNING = 1;

const document = JSON.parse(fileOf('docs/asyncapi.json'));
let loaded: Parser | undefined;
let read: AsyncAPIDocumentInterface | undefined;

/** Loaded where it is asked: that takes seconds of the processor. */
async function parser(): Promise<Parser> {
  loaded ??= new (await import('@asyncapi/parser')).default.Parser();
  return loaded;
}

async function problemsOf(changed: object): Promise<string[]> {
  const { diagnostics } = await (await parser()).parse(JSON.stringify(changed));
  return diagnostics.filter(({ severity }) => severity <= WARNING).map(({ path }) => path.join('.'));
}

async function parsed(): Promise<AsyncAPIDocumentInterface> {
  if (read) return read;
  const { document: whole, diagnostics } = await (await parser()).parse(JSON.stringify(document));
  expect(diagnostics.filter(({ severity }) => severity === ERROR)).toEqual([]);
  if (!whole) throw new Error('it is no AsyncAPI document');
  read = whole;
  return whole;
}

describe('the document', () => {
  testInFull('is valid AsyncAPI 3 without a warning', async () => {
    expect((await parsed()).version()).toBe('3.0.0');
    expect(await problemsOf(document)).toEqual([]);
  });

  inFull(test, test.skip).each([
    ['without its title', { ...document, info: { version: '1.0.0' } }, 'info'],
    ['of an operation without a channel', withOperation({ action: 'receive' }), 'operations.deliverPaymentEvents'],
    ['of an action that is none', withOperation({ action: 'take' }), 'operations.deliverPaymentEvents.action'],
  ])('%s would not be', async (_, broken, place) => {
    expect((await problemsOf(broken)).join()).toContain(place);
  });

  testInFull('has the payment topic and the call, with the same three kinds of record', async () => {
    const whole = await parsed();
    const channels = whole.allChannels().all();
    expect(channels.map((channel) => channel.address())).toEqual(['payment-events', '/api/payment-events']);
    for (const channel of channels) {
      const ids = channel
        .messages()
        .all()
        .map((message) => message.id());
      expect(ids).toEqual(['paymentEvent', 'structuredCloudEvent', 'binaryCloudEvent']);
    }
    expect(
      whole
        .allOperations()
        .all()
        .map((operation) => operation.action()),
    ).toEqual(['receive', 'receive']);
  });
});

function withOperation(operation: object): object {
  return { ...document, operations: { deliverPaymentEvents: operation } };
}
