/** The service's own URL, as its clients know it. */
import type { Context } from 'koa';
import { parseUrl } from '../endpoints/endpoint-url.js';
import { badRequest, fieldError } from './api-error.js';

/** A name or an address, and a port. Nothing else of a client's Host header is echoed. */
const HOST = /^([\w.-]{1,253}|\[[0-9a-f:.]{2,45}\])(:\d{1,5})?$/i;

/**
 * Without a trailing slash.
 * @param publicUrl PUBLIC_URL; null: the URL of the request, which does not show a proxy's TLS
 * @throws ApiError 400 if the request has no valid Host
 */
export function serviceUrl(ctx: Context, publicUrl: string | null): string {
  if (publicUrl !== null) return publicUrl;
  const { host = '' } = ctx.req.headers;
  if (HOST.test(host) && parseUrl(`http://${host}`) !== null) return `http://${host}`;
  throw badRequest([fieldError('Host', 'must be the host of the service, with its port')]);
}
