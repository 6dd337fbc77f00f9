/** GET /api/event-types: the event types, and what the operator says about their data. */
import { list, object, type Schema, text } from '../schema.js';
import { read } from './read-answer.js';
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

export const listEventTypes = read({
  id: 'listEventTypes',
  path: '/api/event-types',
  description: 'Lists the types of payment events that webhooks can be registered for, with the schema of their data.',
  needsAccount: false,
  returns: object('EventTypeList', 'The event types.', { eventTypes: list('The event types.', TYPE) }),
}).answer(async ({ catalogue }) => () => ({
  eventTypes: [...catalogue.values()].map(({ problem: _, paths: _paths, ...shown }) => shown),
}));
