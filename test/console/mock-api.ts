/**
 * The console's page and a small API of the fixed shapes, in which time passes on request only: for states that a real
 * service takes long to be in.
 */
import { createServer } from 'node:http';
import Router from '@koa/router';
import Koa, { type Context } from 'koa';
import bodyParser from 'koa-bodyparser';
import { readConsoleFiles, registerConsole } from '../../src/http/console.js';
import { listen } from '../support/servers/receiver.js';
import { type MockAccount, mockAccount } from './mock-account.js';
import { historyBefore, SECURITY, SESSION, webhooksAt } from './mock-views.js';

export type MockApi = Awaited<ReturnType<typeof startMockApi>>;

export async function startMockApi() {
  const account = mockAccount();
  const app = new Koa();
  const mock = {
    account,
    /** For what the API does wrong: status 0 answers never. */
    fault: null as { readonly status: number } | null,
    /** What each answer is made of its body. */
    altered: (body: unknown) => body,
  };
  const router = new Router({ sensitive: true });
  router.all('/console/session', (ctx) => {
    ctx.body = ctx.method === 'DELETE' ? { success: true, message: 'session ended' } : SESSION;
  });
  // After the session: what else stands below /console is its page.
  registerConsole(router, { files: readConsoleFiles(DIST), frameAncestors: null, publicUrl: null });
  routes(router, account);
  app.use(bodyParser());
  app.use(async (ctx, next) => {
    const status = isOfApi(ctx) ? mock.fault?.status : undefined;
    if (status === 0) return await new Promise<void>(() => undefined);
    if (status) refuse(ctx, status, 'refused');
    else await next();
    if (isOfApi(ctx) || ctx.path === '/console/session') ctx.body = mock.altered(ctx.body);
  });
  app.use(router.routes());
  const { port, close } = await listen(createServer(app.callback()));
  const url = `http://127.0.0.1:${port}`;
  return Object.assign(mock, { link: (path = '/console') => `${url}${path}#code=code`, close });
}

const DIST = new URL('../../dist/console/', import.meta.url);

function routes(router: Router, account: MockAccount): void {
  const answers: Readonly<Record<string, (ctx: Context) => unknown>> = {
    'GET /api/webhooks': ({ query }) => ({ accountId: 42, webhooks: webhooksAt(account, query.at), total: 5 }),
    'GET /api/webhooks/health': () => ({ webhooks: account.health() }),
    'GET /api/webhooks/:id': (ctx) => account.webhook(Number(ctx.params.id)),
    'GET /api/history': ({ query }) => historyBefore(query.before as string | undefined),
    'GET /api/events': ({ query }) => account.events(query as Record<string, string>),
    'GET /api/stats': ({ query }) => account.stats(String(query.from), String(query.to), String(query.step)),
    'GET /api/deliveries/:id': (ctx) => account.delivery(ctx.params.id),
    'PATCH /api/webhooks/:id': () => {
      account.isActivated = true;
      return { success: true, message: 'changed' };
    },
    'POST /api/webhooks/move': () => ({ success: true, message: 'moved', count: 1 }),
    'POST /api/webhooks/:id/test': () => ({ success: true, message: 'sent', result: ANSWERED }),
    'POST /api/deliveries/:id/resend': (ctx) => account.resend(ctx.params.id),
    'GET /api/webhooks/:id/recover': ({ query }) => account.preview(String(query.include)),
    'POST /api/recoveries': (ctx) => account.recover(ctx.request.body as Parameters<MockAccount['recover']>[0]),
    'GET /api/recoveries': () => ({ recoveries: account.recovery ? [account.recovery] : [] }),
    'GET /api/recoveries/:id': () => account.recovery,
    'DELETE /api/recoveries/:id': () => account.stopRecovery(),
    ...Object.fromEntries(Object.entries(SECURITY).map(([name, body]) => [`GET /api/${name}`, () => body])),
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

const ANSWERED = { id: 't', status: 200, error: null, reason: null, durationMs: 12, response: null };

const isOfApi = ({ path }: Context) => path.startsWith('/api/');

function refuse(ctx: Context, status: number, message: string): void {
  ctx.status = status;
  ctx.body = { success: false, message };
}
