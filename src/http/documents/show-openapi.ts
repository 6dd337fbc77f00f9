/** GET /openapi.json: the API's operations, for people and generators. Public: no token is needed. */
import type { Context } from 'koa';
import type { Operation } from '../operation.js';
import { type DocumentOptions, openApiDocument } from './openapi-document.js';

export const operation: Operation = {
  id: 'showOpenApi',
  method: 'get',
  path: '/openapi.json',
  tag: 'Documents',
  summary: 'Get the OpenAPI document',
  description: 'Returns this document.',
  security: 'none',
  responses: {
    200: {
      description: 'The OpenAPI document of this service.',
      schema: {
        title: 'OpenApiDocument',
        description: 'An OpenAPI 3.1 document.',
        type: 'object',
        required: ['openapi'],
        properties: { openapi: { type: 'string', description: 'The version of OpenAPI.' } },
        additionalProperties: true,
      },
    },
  },
};

export function showOpenApi(operations: readonly Operation[], options: DocumentOptions) {
  const document = JSON.stringify(openApiDocument(operations, options));
  return (ctx: Context): void => {
    ctx.type = 'application/json';
    ctx.body = document;
  };
}
