/** GET /api/event-types: the event types, and what the operator says about their data. */
import type { ApiParts } from './api-parts.js';
import { read } from './operation.js';
import { readRoute } from './read-answer.js';
import { list, object, type Schema, text } from './schema.js';
import { EVENT_TYPE } from './shared-schemas.js';

const SCHEMA: Schema<object | null> = {
  type: ['object', 'null'],
  description: "The JSON Schema (2020-12) of the event's `data`, unchecked. Null if the operator gives none.",
};
const EXAMPLE: Schema = {
  type: ['object', 'array', 'string', 'number', 'boolean', 'null'],
  items: {},
  description: "An example of the event's `data`. Null if the operator gives none.",
};
const TYPE = object('CataloguedEventType', 'An event type.', {
  type: EVENT_TYPE,
  description: text('What events of the type say.'),
  schema: SCHEMA,
  example: EXAMPLE,
});

const LIST_EVENT_TYPES = read({
  id: 'listEventTypes',
  path: '/api/event-types',
  summary: 'List event types',
  description: 'Lists the types of payment events that webhooks can be registered for, with the schema of their data.',
  needsAccount: false,
  responses: {
    200: object('EventTypeList', 'The event types.', { eventTypes: list('The event types.', TYPE) }),
  },
});

export function listEventTypes({ catalogue, admission }: ApiParts) {
  const eventTypes = [...catalogue.values()].map(({ problem: _, paths: _paths, ...shown }) => shown);
  return readRoute(LIST_EVENT_TYPES, admission, async () => () => ({ eventTypes }));
}
