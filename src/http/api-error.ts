/** The only errors that are shown as they are: { success: false, message, errors? } with a status. */
export interface FieldError {
  /** The field's name in the contract: url, eventType, headers, headers[0].key, isActive. */
  readonly field: string;
  /** A sentence that names the field. */
  readonly message: string;
}

export class ApiError extends Error {
  override readonly name = 'ApiError';
  constructor(
    readonly status: number,
    message: string,
    readonly details: { errors?: readonly FieldError[]; headers?: Readonly<Record<string, string>> } = {},
  ) {
    super(message);
  }
}

export function fieldError(field: string, predicate: string): FieldError {
  return { field, message: `${field} ${predicate}.` };
}

/** A 400 whose message also names the fields. */
export function badRequest(errors: readonly FieldError[]): ApiError {
  const message = errors.map((error) => error.message).join(' ');
  return new ApiError(400, message, { errors });
}

export function accountNotFound(): ApiError {
  return new ApiError(404, 'account not found');
}
