/** --json: every command takes it, and what it prints on stdout is JSON. */
import { helpOfAll } from '../support/in-process-cli.js';
import { run, serve } from '../support/service.js';
import { installation } from '../support/story.js';

test('every command takes --json', async () => {
  const commands = await helpOfAll();
  expect(commands.size).toBeGreaterThan(15);
  const without = [...commands].flatMap(([command, help]) => (/^ {2}--json /m.test(help) ? [] : [command]));
  expect(without).toEqual([]);
});

test.each([
  { roles: 'api,dispatcher', url: true },
  { roles: 'dispatcher', url: false },
])('serve --json says where it is once it is ready: $roles', async ({ roles, url }) => {
  const { settings, remove } = await installation([]);
  const service = await serve(settings, ['--json', '--roles', roles]);
  const code = await service.stop('SIGTERM');
  await remove();
  expect(code).toBe(0);
  expect(JSON.parse(service.output())).toEqual({
    roles: roles.split(','),
    url: url ? service.url : null,
    adminUrl: service.adminUrl,
  });
});

test('demo --json answers with one object; its story is on stderr', async () => {
  const { code, stdout, stderr } = await run({}, ['demo', '--json']);
  expect(code).toBe(0);
  const { deliveries, history, ...summary } = JSON.parse(stdout);
  expect(summary).toEqual({ accountId: 42, webhooks: 3, events: 5, requests: 17 });
  expect(deliveries).toHaveLength(15);
  for (const delivery of deliveries) expect(delivery).toMatchObject({ accountId: 42, outcome: 'delivered' });
  expect(history[0]).toMatchObject({ type: 'AccountRegistered' });
  expect(stderr).toMatch(/^1\. An account is registered/);
});
