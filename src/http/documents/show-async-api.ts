/** GET /asyncapi.json: docs/asyncapi.json, AsyncAPI 3 of the payment topic and of the call that publishes to it. */

import { object, text } from '../../schema.js';
import type { ApiParts } from '../api-parts.js';
import { operation, route } from '../operation.js';

const DOCUMENT = object('AsyncApiDocument', 'An AsyncAPI 3.0 document.', {
  asyncapi: text('Its version of AsyncAPI.'),
});

const SHOW_ASYNC_API = operation({
  id: 'showAsyncApi',
  method: 'get',
  path: '/asyncapi.json',
  description: 'Returns the contract for payment systems: the topic, its records, and publishing over HTTP.',
  security: 'none',
  responses: { 200: { ...DOCUMENT, additionalProperties: true } },
});

export function showAsyncApi({ asyncApi }: ApiParts) {
  return route(SHOW_ASYNC_API, (ctx) => {
    ctx.type = 'application/json';
    ctx.body = asyncApi;
  });
}
