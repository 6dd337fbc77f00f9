/** A host resolves to a forbidden address. The message never says which: that would map our network. */
export class EndpointForbidden extends Error {
  override readonly name = 'EndpointForbidden';
  readonly code = 'ENDPOINT_FORBIDDEN';
  constructor() {
    super('the endpoint is not allowed');
  }
}
