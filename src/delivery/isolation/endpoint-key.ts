/** An endpoint is an account's URL: accounts share no line, no breaker and no verdict, even where they share a URL. */
export type EndpointKey = string & { readonly [brand]: true };

declare const brand: unique symbol;

/** @param url as it is sent to, normalised */
export function endpointKey(accountId: number, url: string): EndpointKey {
  return `${accountId} ${url}` as EndpointKey;
}
