/** GET /asyncapi.json: docs/asyncapi.json, AsyncAPI 3 of the payment topic and of the call that publishes to it. */
import type { ApiParts } from '../api-parts.js';
import { operation, route } from '../operation.js';
import { object, optional, type Schema, text } from '../schema.js';

const part = (description: string): Schema<object> => ({ type: 'object', description });

const SHOW_ASYNC_API = operation({
  id: 'showAsyncApi',
  method: 'get',
  path: '/asyncapi.json',
  summary: 'Get the AsyncAPI document',
  description: 'Returns the contract for payment systems: the topic, its records, and publishing over HTTP.',
  security: 'none',
  responses: {
    200: object('AsyncApiDocument', 'The AsyncAPI document of this service.', {
      asyncapi: text('The version of AsyncAPI.'),
      info: part('The service and its version.'),
      defaultContentType: optional(text('The content type of payment events.')),
      channels: part('The payment topic, and the call that publishes to it.'),
      operations: part('How the service uses them.'),
      components: part('Messages and schemas.'),
    }),
  },
});

export function showAsyncApi({ asyncApi }: ApiParts) {
  return route(SHOW_ASYNC_API, (ctx) => {
    ctx.type = 'application/json';
    ctx.body = asyncApi;
  });
}
