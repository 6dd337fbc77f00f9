/** GET /openapi.json: what this file's neighbours are, for people and generators. It is no secret: no token is needed. */
import type { Context } from 'koa';
import { type DocumentOptions, openApiDocument } from './openapi-document.js';
import type { Operation } from './operation.js';

export const operation: Operation = {
  id: 'showOpenApi',
  method: 'get',
  path: '/openapi.json',
  summary: 'This document.',
  security: 'none',
  responses: {
    200: {
      description: 'OpenAPI 3.1.',
      schema: {
        type: 'object',
        required: ['openapi', 'info', 'paths', 'components'],
        properties: {
          openapi: { type: 'string' },
          info: { type: 'object' },
          paths: { type: 'object' },
          components: { type: 'object' },
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
