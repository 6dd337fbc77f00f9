/** What the mock API answers to changes of webhooks. */
import type Router from '@koa/router';
import type { MockAccount } from './mock-account.js';

interface Registration {
  readonly url: string;
  readonly eventType: string;
  readonly headers: readonly { readonly key: string; readonly value: string }[];
}

/** Its receiver answers 401. */
export const REFUSING_URL = 'https://refusing.example.com/hooks';

export function webhookRoutes(router: Router, account: MockAccount): void {
  const place = (id: string | undefined) => account.webhooks.findIndex((webhook) => String(webhook.id) === id);
  router.post('/api/webhooks', (ctx) => {
    const body = ctx.request.body as Registration;
    const errors = errorsOf(body);
    if (errors.length > 0) {
      ctx.status = 400;
      ctx.body = { success: false, message: 'the request has fields that are not valid', errors };
      return;
    }
    ctx.body = { success: true, message: 'saved', webhook: register(account, body) };
  });
  router.patch('/api/webhooks/:id', (ctx) => {
    const at = place(ctx.params.id);
    const { isActive } = ctx.request.body as { isActive: boolean };
    account.webhooks = account.webhooks.map((webhook, index) => (index === at ? { ...webhook, isActive } : webhook));
    ctx.body = { success: true, message: 'changed' };
  });
  router.delete('/api/webhooks/:id', (ctx) => {
    account.webhooks = account.webhooks.toSpliced(place(ctx.params.id), 1);
    ctx.body = { success: true, message: 'removed' };
  });
  router.post('/api/webhooks/:id/test', (ctx) => {
    const isRefused = account.webhooks[place(ctx.params.id)]?.url === REFUSING_URL;
    const result = { id: 'test_1', status: isRefused ? 401 : 204, error: null, reason: null, durationMs: 84 };
    ctx.body = { success: !isRefused, message: 'tested', result };
  });
}

function register(account: MockAccount, { url, eventType: type, headers }: Registration) {
  const known = account.webhooks.find(
    (webhook) => new URL(webhook.url).href === new URL(url).href && webhook.type === type,
  );
  const id = known?.id ?? 1 + Math.max(100, ...account.webhooks.map((webhook) => webhook.id));
  const createdAt = known?.createdAt ?? new Date().toISOString();
  const values = Object.fromEntries(headers.map(({ key, value }) => [key, value]));
  const webhook = { id, type, url, headers: values, isActive: true, createdAt };
  account.webhooks = [...account.webhooks.filter((other) => other.id !== id), webhook];
  return webhook;
}

function errorsOf({ url, headers }: Registration) {
  const ofUrl = url.startsWith('https://')
    ? []
    : [{ field: 'url', message: 'url must begin with https:// and a host.' }];
  const ofHeaders = headers.flatMap(({ key }, index) =>
    key.toLowerCase() === 'host'
      ? [{ field: `headers[${index}].key`, message: `headers[${index}].key is a header that the service sets.` }]
      : [],
  );
  return [...ofUrl, ...ofHeaders];
}
