import { type Operation, type Route, route } from '../operation.js';
import { type DocumentOptions, openApiDocument } from './openapi-document.js';

const SHOW_OPEN_API: Operation = {
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

export function showOpenApi(operations: readonly Operation[], options: DocumentOptions): Route {
  const document = JSON.stringify(openApiDocument([...operations, SHOW_OPEN_API], options));
  return route(SHOW_OPEN_API, (ctx) => {
    ctx.type = 'application/json';
    ctx.body = document;
  });
}
