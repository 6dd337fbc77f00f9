import { expect, it } from '@jest/globals';
import { openApiTypes } from '../../scripts/openapi-types.js';

it('keeps the fields whose names are also keywords for people, and drops the keywords', async () => {
  const properties = { example: { type: 'string', example: 'shown' }, summary: { type: 'number', summary: 'shown' } };
  const schemas = { Shown: { type: 'object', properties } };
  const document = { openapi: '3.1.0', info: { title: 'one', version: '1' }, paths: {}, components: { schemas } };
  const text = await openApiTypes(document);
  expect(text).toContain('example?: string;');
  expect(text).toContain('summary?: number;');
  expect(text).not.toContain('shown');
});
