/** Redocly's and Spectral's linters have nothing to say of /openapi.json, with tokens of our own and without. */
import { testInFull } from '../runner/thorough.js';
import { fetchDocument, type OpenApiDocument } from '../support/clients/documented.js';
import { redoclyProblems, spectralProblems } from '../support/clients/openapi-linters.js';
import { type RunningApi, startApi } from '../support/scenes/api-fixture.js';

describe.each([
  ['tokens of our own', {}],
  ["another issuer's tokens", { AUTH_JWKS_URL: 'http://127.0.0.1:1/jwks' }],
])('the document of a service with %s', (_, settings) => {
  let api: RunningApi;
  let document: OpenApiDocument;

  beforeAll(async () => {
    api = await startApi(settings);
    document = await fetchDocument(api.url);
  });

  afterAll(() => api.close());

  testInFull('passes Redocly', async () => {
    expect(await redoclyProblems(document)).toEqual([]);
  });

  testInFull('passes Spectral', async () => {
    expect(await spectralProblems(document)).toEqual([]);
  });
});
