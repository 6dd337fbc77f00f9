/** GET /asyncapi.json: what payment systems publish, for people and generators. It is no secret: no token is needed. */
import type { Context } from 'koa';
import { asyncApiDocument } from './asyncapi-document.js';
import type { Operation } from './operation.js';

export const operation: Operation = {
  id: 'showAsyncApi',
  method: 'get',
  path: '/asyncapi.json',
  summary: 'The contract for payment systems: the payment topic and its records.',
  security: 'none',
  responses: {
    200: {
      description: 'AsyncAPI 3.0.',
      schema: {
        type: 'object',
        required: ['asyncapi', 'info', 'channels', 'operations', 'components'],
        properties: {
          asyncapi: { type: 'string' },
          info: { type: 'object' },
          defaultContentType: { type: 'string' },
          channels: { type: 'object' },
          operations: { type: 'object' },
          components: { type: 'object' },
        },
      },
    },
  },
};

export function showAsyncApi() {
  const document = JSON.stringify(asyncApiDocument());
  return (ctx: Context): void => {
    ctx.type = 'application/json';
    ctx.body = document;
  };
}
