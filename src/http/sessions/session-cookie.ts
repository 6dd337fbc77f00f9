/**
 * The cookies of sessions, one each, named after its id: several sessions work side by side in a browser, and so do
 * several installations on one host, since cookies know no port. Not readable by scripts, never sent by another site's
 * requests, and Secure: then the name begins with __Host-, so that no other host of the domain can set it (RFC 6265bis
 * 4.1.3). A browser refuses Secure cookies from http://127.0.0.1, so on loopback it is a plain one.
 */
import type { Context } from 'koa';

const LOOPBACK = /^http:\/\/(localhost|127(\.\d{1,3}){3}|\[::1\])(:\d{1,5})?(\/|$)/i;
const PLAIN = /(?:^|;)\s*console-(ps_[0-9a-f]{16})=([^;\s]*)/g;
const SECURE = /(?:^|;)\s*__Host-console-(ps_[0-9a-f]{16})=([^;\s]*)/g;

/** Per host: 149 cookies exceed the 16 KiB of a request head, and then every request is rejected, a sign-in included. */
const MAX_COOKIES = 20;

type Cookie = Readonly<{ sessionId: string; value: string; lifetimeMs: number }>;

/** @param publicUrl null: the Host of each request decides */
export function createSessionCookies(publicUrl: string | null) {
  const isSecure = (ctx: Context) => !LOOPBACK.test(publicUrl ?? `http://${ctx.get('host')}`);
  /** Session id -> value, oldest first, as browsers send them (RFC 6265 5.4). */
  const of = (ctx: Context): ReadonlyMap<string, string> => {
    const found = ctx.get('cookie').matchAll(isSecure(ctx) ? SECURE : PLAIN);
    return new Map([...found].map(([, sessionId = '', value = '']) => [sessionId, value]));
  };
  const written = (ctx: Context, sessionId: string, value: string, seconds: number) => {
    const attributes = `Path=/; Max-Age=${seconds}; HttpOnly; SameSite=Strict${isSecure(ctx) ? '; Secure' : ''}`;
    return `${isSecure(ctx) ? '__Host-' : ''}console-${sessionId}=${value}; ${attributes}`;
  };
  const cleared = (ctx: Context, sessionId: string) => written(ctx, sessionId, '', 0);
  return {
    of,
    /** Clears the oldest cookies beyond MAX_COOKIES. @param ended the ids of sessions that are over */
    set(ctx: Context, { sessionId, value, lifetimeMs }: Cookie, ended: readonly string[]): void {
      const own = written(ctx, sessionId, value, Math.floor(lifetimeMs / 1000));
      const others = [...of(ctx).keys()].filter((id) => id !== sessionId && !ended.includes(id));
      const oldest = others.slice(0, Math.max(0, others.length + 1 - MAX_COOKIES));
      ctx.set('set-cookie', [own, ...[...ended, ...oldest].map((id) => cleared(ctx, id))]);
    },
    clear: (ctx: Context, sessionId: string) => ctx.set('set-cookie', cleared(ctx, sessionId)),
  };
}
