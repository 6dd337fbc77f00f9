/** Validates responses against /openapi.json of the service that sent them. */
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { ERRORS, FIELD_ERRORS } from '../../../src/http/error-codes.js';
import { OWN_SCHEMAS } from '../../../src/payments/payment-event-schema.js';

export type Json = Readonly<Record<string, unknown>>;

export interface OpenApiDocument extends Json {
  readonly openapi: string;
  readonly info: Json;
  readonly paths: Readonly<Record<string, Readonly<Record<string, DocumentedOperation>>>>;
  readonly webhooks: Readonly<Record<string, Readonly<Record<string, Json>>>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, Json>>;
    readonly headers: Readonly<Record<string, Json>>;
    readonly securitySchemes: Readonly<Record<string, Json>>;
  };
}

export interface DocumentedOperation extends Json {
  readonly operationId: string;
  readonly security: readonly Json[];
  readonly parameters?: readonly {
    readonly name: string;
    readonly in: string;
    readonly required?: boolean;
    readonly schema: Json;
  }[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: Json }>> };
  readonly responses: Readonly<Record<string, DocumentedResponse>>;
}

interface DocumentedResponse {
  readonly description: string;
  readonly headers?: Readonly<Record<string, Json>>;
  /** Absent: no body. */
  readonly content?: Readonly<Record<string, { readonly schema: Json }>>;
}

export interface Given {
  readonly method: string;
  readonly path: string;
  readonly status: number;
  readonly headers: Headers;
  readonly body: unknown;
}

type Check = (given: Given) => void;

const ofServices = new Map<string, Promise<Check>>();
/** By the document: compiling its schemas takes longer than the calls of most tests. */
const checks = new Map<string, Check>();

/** @throws if a response is not in its operation's description: another status, another shape */
export async function expectDocumented(url: string, given: Given): Promise<void> {
  const known = ofServices.get(url) ?? checkOf(url);
  ofServices.set(url, known);
  (await known)(given);
}

async function checkOf(url: string): Promise<Check> {
  const text = await (await fetch(`${url}/openapi.json`)).text();
  const check = checks.get(text) ?? checker(JSON.parse(text) as OpenApiDocument);
  checks.set(text, check);
  return check;
}

export async function fetchDocument(url: string): Promise<OpenApiDocument> {
  return (await (await fetch(`${url}/openapi.json`)).json()) as OpenApiDocument;
}

/** The description of the request's operation; undefined for an unknown path or method. */
export function operationOf(
  document: OpenApiDocument,
  method: string,
  target: string,
): DocumentedOperation | undefined {
  // As it is sent: URL would take `/a/./b` for another path.
  const path = /^[^?#]*/.exec(target)?.[0] ?? '';
  const template = Object.keys(document.paths).find((candidate) =>
    new RegExp(`^${candidate.replaceAll('.', '[.]').replace(/\{\w+\}/g, '[^/]+')}$`).test(path),
  );
  return template === undefined ? undefined : document.paths[template]?.[method.toLowerCase()];
}

function checker(document: OpenApiDocument): Check {
  const compile = compiler(document);
  const compiled = new Map<Json, ValidateFunction>();
  return ({ method, path, status, headers, body }) => {
    if (headers.get('cache-control') !== 'no-store') throw new Error(`${method} ${path} may be cached`);
    const operation = operationOf(document, method, path);
    if (!operation) return;
    const answered = `${method} ${path} answered ${status} ${JSON.stringify(body)}`;
    const response = operation.responses[status];
    if (!response) throw new Error(`${answered}: a status that /openapi.json does not have`);
    const { schema = {} } = (response.content ?? NO_CONTENT)['application/json'] ?? {};
    const validate = compiled.get(schema) ?? compile(schema);
    compiled.set(schema, validate);
    if (!validate(body)) throw new Error(`${answered}: not as in /openapi.json, ${JSON.stringify(validate.errors)}`);
    for (const code of unlisted(status, body as Partial<Refusal> | null))
      throw new Error(`${answered}: ${code} is not listed`);
    for (const name of unexpected(headers, response)) throw new Error(`${answered}: its ${name} is not documented`);
  };
}

const NO_CONTENT: NonNullable<DocumentedResponse['content']> = { 'application/json': { schema: { type: 'null' } } };

interface Refusal {
  readonly code: string;
  readonly errors: readonly { readonly code: string }[];
}

/** Of the codes of an answer, those that docs/api.md does not list, or has with another status. */
function unlisted(status: number, body: Partial<Refusal> | null): string[] {
  const { code, errors = [] } = body ?? {};
  const ofFields = errors.map((error) => error.code).filter((one) => !(one in FIELD_ERRORS));
  const isListed = code !== undefined && code in ERRORS && ERRORS[code as keyof typeof ERRORS][2] === status;
  return status < 400 || code === undefined || isListed ? ofFields : [code, ...ofFields];
}

const TOLD = ['retry-after', 'www-authenticate', 'idempotent-replayed', 'etag'];

function unexpected(headers: Headers, response: DocumentedResponse): string[] {
  const documented = Object.keys(response.headers ?? {}).map((name) => name.toLowerCase());
  return TOLD.filter((name) => headers.has(name) && !documented.includes(name));
}

/** Closed schemas: they allow nothing beyond the description, so a forgotten field is detected. */
export function compiler(
  { components }: OpenApiDocument,
  { isClosed = true } = {},
): (schema: Json) => ValidateFunction {
  const formats = {
    uri: (text: string) => URL.canParse(text),
    'date-time': /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/,
  };
  const ajv = new Ajv2020({ ...OWN_SCHEMAS, allErrors: true, allowUnionTypes: true, formats });
  ajv.addKeyword('components');
  return (schema) => {
    const whole = { ...schema, components };
    return ajv.compile(isClosed ? (closed(whole) as Json) : whole);
  };
}

function closed(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(closed);
  if (typeof node !== 'object' || node === null) return node;
  const inner = Object.fromEntries(Object.entries(node).map(([name, value]) => [name, closed(value)]));
  const isOpen = 'properties' in node && typeof node.properties === 'object' && !('additionalProperties' in node);
  return isOpen && (node as Json).type === 'object' ? { ...inner, additionalProperties: false } : inner;
}
