/** The portal of docs/console.md, with the service. */
import { documentedPortal, PASSWORD, type Portal } from '../support/clients/documented-portal.js';
import { type ServiceHere, serveHere } from '../support/clients/in-process-service.js';
import { Browser } from '../support/clients/portal-session.js';
import { installation, register } from '../support/scenes/story.js';

let portal: Portal;
let service: ServiceHere;
let remove: () => Promise<void>;

beforeAll(async () => {
  portal = await documentedPortal();
  const installed = await installation([]);
  ({ remove } = installed);
  service = await serveHere({ ...installed.settings, CONSOLE_FRAME_ANCESTORS: portal.url });
  await portal.start(service.url, await register(installed.settings, 42));
});
afterAll(async () => {
  await portal.stop();
  await service.stop();
  await remove();
});

function get(path: string, user = 'maria', password = PASSWORD): Promise<Response> {
  const authorization = `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;
  return fetch(portal.url + path, { headers: { authorization }, redirect: 'manual' });
}

test('it redirects its user into a session with the rights of that user', async () => {
  for (const [user, can] of [
    ['maria', ['read', 'payloads', 'resend', 'configure']],
    ['joao', ['read']],
  ] as const) {
    const response = await get('/open', user);
    await response.arrayBuffer();
    expect([response.status, response.headers.get('cache-control')]).toEqual([303, 'no-store']);
    const browser = await Browser.in(service.url, { url: response.headers.get('location') ?? '' });
    expect((await browser.send('GET', '/console/session')).body).toMatchObject({ user, can });
  }
});

test('its page embeds a session, and the console allows that page only', async () => {
  const page = await (await get('/')).text();
  const [, url = ''] = /<iframe src="([^"]+)"/.exec(page) ?? [];
  expect((await Browser.in(service.url, { url })).cookie).toMatch(/^console-ps_/);
  const shell = await fetch(`${service.url}/console`);
  await shell.arrayBuffer();
  expect(shell.headers.get('content-security-policy')).toContain(`frame-ancestors ${portal.url};`);
});

test('without the password of a user there is no session', async () => {
  for (const [user, password] of [
    ['maria', 'wrong'],
    ['constructor', PASSWORD],
  ] as const) {
    const response = await get('/open', user, password);
    await response.arrayBuffer();
    expect(response.status).toBe(401);
  }
});
