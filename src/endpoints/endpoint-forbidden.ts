/** A host leads to an address that webhooks may not be sent to. It never tells which: that would map our network. */
export class EndpointForbidden extends Error {
  override readonly name = 'EndpointForbidden';
  readonly code = 'ENDPOINT_FORBIDDEN';
  constructor() {
    super('the endpoint is not allowed');
  }
}
