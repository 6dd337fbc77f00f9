/** Validates a request body against its schema: a violation is a 400 that names every field. */
import { Ajv, type ErrorObject } from 'ajv';
import { OWN_SCHEMAS } from '../delivery/payment/payment-event-schema.js';
import { ApiError, badRequest, type FieldError, fieldError } from './api-error.js';
import type { Schema } from './operation.js';

const MOST_ERRORS = 20;
/**
 * Keywords that only the document needs: src/endpoints and webhooks/header-rules check URLs and headers, and a change that
 * has none of its fields is refused, each with messages of its own.
 */
const JUDGED_LATER = ['format', 'pattern', 'maxLength', 'anyOf'];

/** The check may throw ApiError 400. It coerces nothing and ignores unknown fields. */
export function bodyCheck<T>(schema: Schema): (body: unknown) => T {
  const ajv = new Ajv({ ...OWN_SCHEMAS, allErrors: true });
  for (const keyword of JUDGED_LATER) ajv.removeKeyword(keyword);
  const validate = ajv.addVocabulary(JUDGED_LATER).compile<T>(schema);
  return (body) => {
    if (typeof body !== 'object' || body === null || Array.isArray(body)) {
      throw new ApiError(400, 'the body must be a JSON object');
    }
    if (validate(body)) return body;
    throw badRequest((validate.errors ?? []).slice(0, MOST_ERRORS).map(schemaError));
  };
}

function schemaError(error: ErrorObject): FieldError {
  const missing = error.keyword === 'required' ? `/${error.params.missingProperty}` : '';
  return fieldError(fieldName(`${error.instancePath}${missing}`), predicate(error));
}

/** /headers/0/key -> headers[0].key */
function fieldName(pointer: string): string {
  return pointer
    .slice(1)
    .replace(/\/(\d+)/g, '[$1]')
    .replaceAll('/', '.');
}

function predicate({ keyword, params, message }: ErrorObject): string {
  if (keyword === 'required') return 'is missing';
  if (keyword === 'enum') return `must be one of ${params.allowedValues.join(', ')}`;
  if (keyword === 'maxItems') return `must have at most ${params.limit} entries`;
  return message ?? 'is not valid';
}
