/** GET /openapi.json: what this file's neighbours are, for people and generators. It is no secret: no token is needed. */
import type { Context } from 'koa';
import { type DocumentOptions, openApiDocument } from './openapi-document.js';
import type { Operation } from './operation.js';

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
        required: ['openapi', 'info', 'servers', 'tags', 'paths', 'webhooks', 'components'],
        properties: {
          openapi: { type: 'string', description: 'The version of OpenAPI.' },
          info: { type: 'object', description: 'The name, version, contact and license of the service.' },
          servers: { type: 'array', description: 'Where the service is.', items: { type: 'object' } },
          tags: { type: 'array', description: 'The groups of operations.', items: { type: 'object' } },
          paths: { type: 'object', description: 'The operations of the service.' },
          webhooks: { type: 'object', description: 'The requests that the service sends to receivers.' },
          components: { type: 'object', description: 'Schemas, headers and security schemes that the rest refers to.' },
        },
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
