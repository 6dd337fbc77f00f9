/** The limit of GET: Koa and its router with one route, a look-up of the token, and the answer ready. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import Router from '@koa/router';
import Koa from 'koa';
import { answerParent } from '../support/child.js';

export const handlers = {
  /** @returns the port */
  listen: async ({ path, token, body }: { path: string; token: string; body: string }): Promise<number> => {
    const known = new Map([[`Bearer ${token}`, { accountId: 1 }]]);
    const router = new Router();
    router.get(path, (ctx) => {
      ctx.state.caller = known.get(ctx.get('authorization'));
      if (!ctx.state.caller) return ctx.throw(401);
      ctx.type = 'application/json';
      ctx.body = body;
    });
    const app = new Koa();
    app.use(router.routes());
    const server = createServer(app.callback()).listen(0, '127.0.0.1');
    await once(server, 'listening');
    return (server.address() as AddressInfo).port;
  },
};

answerParent(handlers);
