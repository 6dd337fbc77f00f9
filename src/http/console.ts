/** GET /console: the console's page, and its assets. It is static: its data is the API's. Not in /openapi.json. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import type Router from '@koa/router';
import type { Context, Middleware } from 'koa';
import { ApiError } from './api-error.js';
import { tagged } from './request-context.js';

const SHELL = 'index.html';

interface ConsoleAsset {
  /** A file name's ending, as Koa's `type` takes it. */
  readonly type: string;
  readonly gzipped: Buffer;
}

export interface ConsoleFiles {
  /** HTML that refers to assets by `/console/assets/<name>`. */
  readonly shell: string;
  readonly assets: ReadonlyMap<string, ConsoleAsset>;
}

/** @returns null if the console was not built @throws other errors of the disk */
export function readConsoleFiles(folder: URL): ConsoleFiles | null {
  if (!existsSync(new URL(SHELL, folder))) return null;
  const assets = readdirSync(folder)
    .filter((name) => name !== SHELL)
    .map((name) => [name, assetOf(new URL(name, folder))] as const);
  return { shell: readFileSync(new URL(SHELL, folder), 'utf8'), assets: new Map(assets) };
}

function assetOf(file: URL): ConsoleAsset {
  return { type: file.pathname.replace(/^.*\./, ''), gzipped: gzipSync(readFileSync(file), { level: 9 }) };
}

const A_YEAR_S = 31_536_000;

export interface ConsoleParts {
  /** Null: not built. */
  readonly files: ConsoleFiles | null;
  /** Origins; null: none. */
  readonly frameAncestors: readonly string[] | null;
  /** The service's public URL, without a trailing slash: its path is that of the page behind a proxy. */
  readonly publicUrl: string | null;
}

export function registerConsole(router: Router, parts: ConsoleParts): void {
  const path = parts.publicUrl ? new URL(parts.publicUrl).pathname.replace(/\/$/, '') : '';
  const tag = { method: 'get', path: '/console' };
  const asset = showAsset(parts.files?.assets ?? new Map());
  router.get('/console/assets/:name', tagged({ method: 'get', path: '/console/assets/{name}' }, asset));
  router.get(
    '/',
    tagged(tag, (ctx) => {
      // For other clients than browsers the path is no part of the API.
      if (!isBrowser(ctx)) throw new ApiError({ code: 'not-found' });
      ctx.status = 302;
      ctx.set('location', `${path}/console`);
    }),
  );
  // The page itself says of a path that it does not know that there is no such page.
  router.get(['/console', '/console/', '/console/*screen'], tagged(tag, showPage(parts, path)));
}

const MAX_ACCEPT_CHARACTERS = 512;

/** Browsers accept HTML by its name. Koa's negotiation, which `redirect` repeats, took 40 ms for 16 KiB of media types. */
function isBrowser(ctx: Context): boolean {
  return ctx.get('accept').slice(0, MAX_ACCEPT_CHARACTERS).toLowerCase().includes('text/html');
}

function showPage({ files, frameAncestors }: ConsoleParts, path: string): Middleware {
  const shell = files?.shell.replaceAll('"/console/', `"${path}/console/`);
  const policy = contentSecurityPolicy(frameAncestors);
  return (ctx: Context): void => {
    if (shell === undefined) throw new ApiError({ code: 'console-not-built' });
    ctx.set('cache-control', 'no-store');
    ctx.set('content-security-policy', policy);
    ctx.set('referrer-policy', 'no-referrer');
    // A page that opened this one could put a code into its address, where a reload would read it.
    ctx.set('cross-origin-opener-policy', 'same-origin');
    ctx.set('x-content-type-options', 'nosniff');
    ctx.type = 'html';
    ctx.body = shell;
  };
}

function showAsset(assets: ReadonlyMap<string, ConsoleAsset>): Middleware {
  return (ctx: Context): void => {
    const asset = assets.get(ctx.params.name);
    if (!asset) throw new ApiError({ code: 'not-found' });
    ctx.set('cache-control', `public, max-age=${A_YEAR_S}, immutable`);
    ctx.set('x-content-type-options', 'nosniff');
    ctx.type = asset.type;
    // Every browser takes it.
    ctx.set('content-encoding', 'gzip');
    ctx.body = asset.gzipped;
  };
}

function contentSecurityPolicy(frameAncestors: readonly string[] | null): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "connect-src 'self'",
    "img-src 'self' data:",
    `frame-ancestors ${frameAncestors?.join(' ') ?? "'none'"}`,
    "base-uri 'none'",
    "form-action 'none'",
    "require-trusted-types-for 'script'",
  ].join('; ');
}
