/** An endpoint is an account's URL: accounts share no queue, no breaker and no verdict, even where they share a URL. */
export type EndpointKey = string & { readonly [brand]: true };

declare const brand: unique symbol;

/** @param url as it is sent to, normalised */
export function endpointKey(accountId: number, url: string): EndpointKey {
  return `${accountId} ${url}` as EndpointKey;
}

/** Of all of the account's endpoints on that host and port. */
export function hostKey(key: EndpointKey): EndpointKey {
  const end = key.indexOf('/', key.indexOf('//') + 2);
  return (end === -1 ? key : key.slice(0, end)) as EndpointKey;
}
