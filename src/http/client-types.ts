/** The operations as a client sees them: by path and method, the parameters, body, and answers by status. */
import type { Static } from '../schema.js';
import type { Query } from './query.js';
import type { ApiRoute } from './server.js';

/** Descriptions are constants, so their lists are read-only; what a client sends is its own. */
type Writable<T> = T extends readonly (infer Item)[]
  ? Writable<Item>[]
  : T extends object
    ? { -readonly [Name in keyof T]: Writable<T[Name]> }
    : T;

interface Json<T> {
  content: { 'application/json': Writable<T> };
}

type StatusOf<Route> = Route extends { status: infer Status extends number } ? Status : 200;
type RequestBody<Route> = Route extends { body: { type: 'json'; schema: infer S } }
  ? Route extends { body: { isOptional: true } }
    ? { requestBody?: Json<Static<S>> }
    : { requestBody: Json<Static<S>> }
  : { requestBody?: never };
type AskedQuery<Q extends Query> = { [Name in keyof Q]?: Static<Q[Name]['schema']> };
type Parameters<Route> = {
  path: Route extends { path: `/api/webhooks/{id}${string}` } ? { id: number } : { id: string };
  query?: Route extends { query: infer Q extends Query } ? AskedQuery<Q> : never;
};
type Call<Route extends ApiRoute> = RequestBody<Route> & {
  parameters: Route extends { path: `${string}{id}${string}` } ? Parameters<Route> : Omit<Parameters<Route>, 'path'>;
  responses: { [Status in StatusOf<Route>]: Json<Static<Route['returns']>> };
};

export type Paths = {
  [Path in ApiRoute['path']]: {
    [Route in Extract<ApiRoute, { path: Path }> as Route['method']]: Call<Route>;
  };
};
