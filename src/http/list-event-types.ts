/** GET /api/event-types: the event types, and what the operator says about their data. */
import type { EventCatalogue } from '../delivery/payment/event-catalogue.js';
import { type Operation, READ, type Route } from './operation.js';
import { type Reading, readRoute } from './read-answer.js';
import { EVENT_TYPE } from './shared-schemas.js';

const TYPE = {
  type: EVENT_TYPE,
  description: { type: 'string', description: 'What events of the type say.' },
  schema: {
    type: ['object', 'null'],
    description:
      "The JSON Schema (2020-12) of the event's `data`. Null if the operator gives none. The service does not check events by it.",
  },
  example: {
    type: ['object', 'array', 'string', 'number', 'boolean', 'null'],
    items: {},
    description: "An example of the event's `data`. Null if the operator gives none.",
  },
} as const;

const LIST_EVENT_TYPES: Operation = {
  id: 'listEventTypes',
  ...READ,
  path: '/api/event-types',
  tag: 'Webhooks',
  summary: 'List event types',
  description: 'Lists the types of payment events that webhooks can be registered for, with the schema of their data.',
  responses: {
    200: {
      description: 'The event types.',
      schema: {
        title: 'EventTypeList',
        description: 'All event types.',
        type: 'object',
        required: ['eventTypes'],
        properties: {
          eventTypes: {
            type: 'array',
            description: 'The event types.',
            items: {
              title: 'CataloguedEventType',
              description: 'An event type.',
              type: 'object',
              required: Object.keys(TYPE),
              properties: TYPE,
            },
          },
        },
      },
    },
  },
};

export function listEventTypes(catalogue: EventCatalogue, reading: Reading): Route {
  const eventTypes = [...catalogue.values()].map(({ problem: _, paths: _paths, ...shown }) => shown);
  return readRoute(LIST_EVENT_TYPES, reading, async () => () => ({ eventTypes }));
}
