/**
 * The console's page and a small API of the fixed shapes, in which time passes on request only: for states that a real
 * service takes long to be in.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import Router from '@koa/router';
import Koa, { type Context } from 'koa';
import bodyParser from 'koa-bodyparser';
import { readConsoleFiles, registerConsole } from '../../src/http/console.js';
import { type MockAccount, mockAccount } from './mock-account.js';
import { viewRoutes } from './mock-views.js';

export interface MockApi {
  readonly url: string;
  /** Opens the console: a link works once. */
  link(path?: string): string;
  readonly account: MockAccount;
  /** For what the API does wrong: status 0 answers never. */
  fault: { readonly status: number } | null;
  /** What each answer is made of its body. */
  altered: (body: unknown) => unknown;
  close(): Promise<void>;
}

const RIGHTS = ['read', 'payloads', 'resend', 'configure', 'secrets'];

export async function startMockApi(size: number): Promise<MockApi> {
  const account = mockAccount(size);
  const codes = new Set<string>();
  const app = new Koa();
  const mock: Pick<MockApi, 'account' | 'fault' | 'altered'> = { account, fault: null, altered: (body) => body };
  const about = { id: 'ps_mine', account: 42, user: 'maria', can: RIGHTS };
  const session = { ...about, expiresAt: inAnHour(), next: null, returnUrl: null };
  const router = new Router({ sensitive: true });
  router.post('/console/session', (ctx) => {
    const { code } = ctx.request.body as { code: string };
    if (!codes.delete(code)) {
      refuse(ctx, 400, 'code is not valid, was used, or has expired');
      return;
    }
    ctx.cookies.set('session', 'open', { sameSite: 'strict' });
    ctx.body = session;
  });
  router.get('/console/session', (ctx) => {
    ctx.body = session;
  });
  router.delete('/console/session', (ctx) => {
    ctx.cookies.set('session', null);
    ctx.body = { success: true, message: 'session ended' };
  });
  // After the session: what else stands below /console is its page.
  registerConsole(router, { files: readConsoleFiles(DIST), frameAncestors: null, publicUrl: null });
  viewRoutes(router, account, { size, session });
  routes(router, account);
  app.use(bodyParser());
  app.use(async (ctx, next) => {
    if (mock.fault?.status === 0 && isOfApi(ctx)) return await new Promise<void>(() => undefined);
    const status = refusedBy(ctx, mock.fault);
    if (status) refuse(ctx, status, 'refused');
    else await next();
    if (isOfApi(ctx) || ctx.path === '/console/session') ctx.body = mock.altered(ctx.body);
  });
  app.use(router.routes());
  const server = createServer(app.callback());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return Object.assign(mock, {
    url,
    link: (path = '/console') => {
      const code = `code-${codes.size}-${Math.round(performance.now())}`;
      codes.add(code);
      return `${url}${path}#code=${code}`;
    },
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  });
}

const DIST = new URL('../../dist/console/', import.meta.url);

function routes(router: Router, account: MockAccount): void {
  const answers: Readonly<Record<string, (ctx: Context) => unknown>> = {
    'GET /api/webhooks': () => ({ accountId: 42, webhooks: account.webhooks, total: account.webhooks.length }),
    'GET /api/webhooks/health': () => ({ webhooks: account.health() }),
    'GET /api/webhooks/:id': (ctx) => account.webhook(Number(ctx.params.id)),
    'GET /api/stats': ({ query }) => account.stats(String(query.from), String(query.to), String(query.step)),
    'GET /api/deliveries/:id': (ctx) => account.delivery(ctx.params.id),
    'POST /api/deliveries/:id/resend': (ctx) => account.resend(ctx.params.id),
    'GET /api/webhooks/:id/recover': ({ query }) => account.preview(String(query.include)),
    'POST /api/recoveries': (ctx) => account.recover(ctx.request.body as Parameters<MockAccount['recover']>[0]),
    'GET /api/recoveries': () => ({ recoveries: account.recovery ? [account.recovery] : [] }),
    'GET /api/recoveries/:id': () => account.recovery,
    'DELETE /api/recoveries/:id': () => account.stopRecovery(),
  };
  for (const [route, answer] of Object.entries(answers)) {
    const [method = '', path = ''] = route.split(' ');
    router.register(path, [method], (ctx) => {
      const body = answer(ctx);
      if (body === null) return refuse(ctx, 404, 'not found');
      ctx.status = method === 'POST' ? 202 : 200;
      ctx.body = body;
    });
  }
}

const isOfApi = ({ path }: Context) => path.startsWith('/api/');

function refusedBy(ctx: Context, fault: MockApi['fault']): number | null {
  if (fault && isOfApi(ctx)) return fault.status;
  const needsSession = isOfApi(ctx) || (ctx.path === '/console/session' && ctx.method !== 'POST');
  const isNamed = ctx.get('x-console') === 'ps_mine' && ctx.cookies.get('session') === 'open';
  return needsSession && !isNamed ? 401 : null;
}

function refuse(ctx: Context, status: number, message: string): void {
  ctx.status = status;
  ctx.body = { success: false, message };
}

const inAnHour = () => new Date(Date.now() + 3_600_000).toISOString();
