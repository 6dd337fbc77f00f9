/** The service compiles its own schemas without a look at their meta-schema: here they are held against it. */
import { Ajv } from 'ajv';

afterEach(() => void jest.restoreAllMocks());

test.each([
  '../../src/payments/payment-check.ts',
  '../../src/delivery/log/log-record.ts',
  '../../src/http/webhooks/register-webhook.ts',
  '../../src/http/webhooks/change-webhook.ts',
])('what %s compiles is a JSON schema', async (module) => {
  const compile = jest.spyOn(Ajv.prototype, 'compile');
  // Other tests of this worker may have loaded the module: it compiles when it is loaded.
  await import(`${module}?again`);
  const schemas = compile.mock.calls.map(([schema]) => schema);
  expect(schemas).not.toEqual([]);
  const judge = new Ajv();
  for (const schema of schemas) expect(judge.validateSchema(schema) || judge.errorsText()).toBe(true);
});
