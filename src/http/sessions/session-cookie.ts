/**
 * The cookie of a session. Not readable by scripts, never sent by another site's requests, and Secure: then its name
 * begins with __Host-, so that no other host of the domain can set it (RFC 6265bis 4.1.3). A browser refuses Secure
 * cookies from http://127.0.0.1, so on loopback it is a plain one.
 */
import type { Context } from 'koa';

const LOOPBACK = /^http:\/\/(localhost|127(\.\d{1,3}){3}|\[::1\])(:\d{1,5})?(\/|$)/i;

export interface SessionCookie {
  /** Its value; undefined if the request has none. */
  of(ctx: Context): string | undefined;
  set(ctx: Context, value: string, lifetimeMs: number): void;
  clear(ctx: Context): void;
}

/** @param publicUrl null: the Host of each request decides */
export function createSessionCookie(publicUrl: string | null): SessionCookie {
  const isSecure = (ctx: Context) => !LOOPBACK.test(publicUrl ?? `http://${ctx.get('host')}`);
  const nameFor = (ctx: Context) => (isSecure(ctx) ? '__Host-console' : 'console');
  const write = (ctx: Context, value: string, seconds: number) => {
    const attributes = [
      'Path=/',
      `Max-Age=${seconds}`,
      'HttpOnly',
      'SameSite=Strict',
      ...(isSecure(ctx) ? ['Secure'] : []),
    ];
    ctx.set('set-cookie', [`${nameFor(ctx)}=${value}`, ...attributes].join('; '));
  };
  return {
    of: (ctx) => ctx.cookies.get(nameFor(ctx)),
    set: (ctx, value, lifetimeMs) => write(ctx, value, Math.floor(lifetimeMs / 1000)),
    clear: (ctx) => write(ctx, '', 0),
  };
}
