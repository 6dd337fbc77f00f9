import type { EventCatalogue } from '../event-types/event-catalogue.js';
import { type Operation, type Route, route } from '../operation.js';
import { asyncApiDocument } from './asyncapi-document.js';

const SHOW_ASYNC_API: Operation = {
  id: 'showAsyncApi',
  method: 'get',
  path: '/asyncapi.json',
  tag: 'Documents',
  summary: 'Get the AsyncAPI document',
  description:
    'Returns the contract for payment systems: the payment topic, its records, and how to publish them over HTTP.',
  security: 'none',
  responses: {
    200: {
      description: 'The AsyncAPI document of this service.',
      schema: {
        title: 'AsyncApiDocument',
        description: 'An AsyncAPI 3.0 document.',
        type: 'object',
        required: ['asyncapi', 'info', 'channels', 'operations', 'components'],
        properties: {
          asyncapi: { type: 'string', description: 'The version of AsyncAPI.' },
          info: { type: 'object', description: 'The service and its version.' },
          defaultContentType: { type: 'string', description: 'The content type of payment events.' },
          channels: { type: 'object', description: 'The payment topic, and the call that publishes to it.' },
          operations: { type: 'object', description: 'How the service uses them.' },
          components: { type: 'object', description: 'Messages and schemas.' },
        },
      },
    },
  },
};

export function showAsyncApi(catalogue: EventCatalogue): Route {
  const document = JSON.stringify(asyncApiDocument(catalogue));
  return route(SHOW_ASYNC_API, (ctx) => {
    ctx.type = 'application/json';
    ctx.body = document;
  });
}
