/** Schemas shared by the operations on sessions. */
import { RIGHTS } from '../../webhooks/limits.js';
import { type Parameter, refusal } from '../operation.js';

const RIGHT = {
  title: 'Right',
  description:
    'What a session may do: `read` what the other rights do not name; read `payloads` and responses; `resend` and cancel; `configure` webhooks, notices and recoveries, and see the values of their headers; manage `secrets`: signing secrets and sessions.',
  enum: RIGHTS,
} as const;

export const CAN = {
  type: 'array',
  minItems: 1,
  uniqueItems: true,
  items: RIGHT,
  description: 'The rights of the session.',
} as const;

export const SESSION_ID = { type: 'string', description: 'The id of the session.' } as const;

export const SESSION_ID_PARAMETER: Parameter = {
  name: 'id',
  in: 'path',
  required: true,
  description: 'The id of the session, as GET /api/portal-sessions shows it.',
  schema: { type: 'string' },
};

export const SESSION_NOT_FOUND = refusal('The account has no open session with this id, or is not registered.');
