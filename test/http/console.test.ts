/** The console's page and its assets, as HTTP. */
import { gzipSync } from 'node:zlib';
import type { ConsoleFiles } from '../../src/http/console.js';
import { type BareApi, startBareApi } from '../support/scenes/bare-api.js';

const NAME = 'console-AB12.js';
const FILES: ConsoleFiles = {
  shell: `<script type="module" src="/console/assets/${NAME}"></script>`,
  assets: new Map([[NAME, { type: 'js', gzipped: gzipSync('let a;') }]]),
};

let api: BareApi;

const start = async (
  files: ConsoleFiles | null,
  frameAncestors: string[] | null = null,
  publicUrl: string | null = null,
) => {
  api = await startBareApi({ parts: { console: { files, frameAncestors }, publicUrl } });
};

afterEach(() => api.close());

describe('the page', () => {
  beforeEach(() => start(FILES));

  it.each(['/console', '/console/', '/console/payments/pay_1', '/console/nothing', '/console/deliveries/a/b'])(
    'is at %s, never stored',
    async (path) => {
      const answer = await fetch(api.url + path);
      expect(await answer.text()).toBe(FILES.shell);
      expect(Object.fromEntries(answer.headers)).toMatchObject({
        'cache-control': 'no-store',
        'content-type': 'text/html; charset=utf-8',
        'referrer-policy': 'no-referrer',
        'cross-origin-opener-policy': 'same-origin',
        'x-content-type-options': 'nosniff',
        'content-security-policy':
          "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; frame-ancestors 'none'; base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'",
      });
    },
  );

  it('is at paths of up to 4,096 characters', async () => {
    const path = `/console/${'a'.repeat(4_096 - '/console/'.length)}`;
    expect((await fetch(api.url + path)).status).toBe(200);
    const other = await fetch(`${api.url + path}a`);
    expect([other.status, await other.json()]).toMatchObject([404, { success: false, code: 'not-found' }]);
  });

  it('is where a browser is led to from /, which is no path of the API', async () => {
    const headers = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' };
    const answer = await fetch(`${api.url}/`, { headers, redirect: 'manual' });
    expect([answer.status, answer.headers.get('location')]).toEqual([302, '/console']);
    await answer.arrayBuffer();
    const other = await fetch(`${api.url}/`);
    expect([other.status, await other.json()]).toMatchObject([404, { success: false, code: 'not-found' }]);
  });

  it('is not found at / for a client whose first 512 characters of Accept do not name HTML', async () => {
    for (const accept of ['*/*', 'application/json', `${'a/b,'.repeat(1_000)}text/html`]) {
      const answer = await fetch(`${api.url}/`, { headers: { accept }, redirect: 'manual' });
      expect(answer.status).toBe(404);
    }
  });

  it.each(['POST', 'PUT', 'DELETE'])('refuses %s', async (method) => {
    const answer = await fetch(`${api.url}/console`, { method });
    expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'HEAD, GET']);
  });

  it('is no operation of /openapi.json', async () => {
    const { paths } = (await (await fetch(`${api.url}/openapi.json`)).json()) as { paths: object };
    expect(Object.keys(paths)).not.toContain('/console');
  });
});

describe('an asset', () => {
  beforeEach(() => start(FILES));

  it('is immutable and gzipped', async () => {
    const answer = await fetch(`${api.url}/console/assets/${NAME}`);
    expect([answer.status, await answer.text()]).toEqual([200, 'let a;']);
    const sent = { 'content-encoding': 'gzip', 'cache-control': 'public, max-age=31536000, immutable' };
    expect(Object.fromEntries(answer.headers)).toMatchObject(sent);
  });

  it.each(['nothing.js', '..%2fmain.js', 'index.html'])('is not there by the name %s', async (name) => {
    expect((await fetch(`${api.url}/console/assets/${name}`)).status).toBe(404);
  });
});

it('may be embedded by the origins of CONSOLE_FRAME_ANCESTORS', async () => {
  await start(FILES, ['https://portal.example.com', 'https://b.example.com']);
  const policy = (await fetch(`${api.url}/console`)).headers.get('content-security-policy');
  expect(policy).toContain('; frame-ancestors https://portal.example.com https://b.example.com; ');
});

it('finds its assets under the path of PUBLIC_URL', async () => {
  await start(FILES, null, 'https://example.com/webhooks');
  expect(await (await fetch(`${api.url}/console`)).text()).toContain(`src="/webhooks/console/assets/${NAME}"`);
});

it('is a 404 that says so where it was not built', async () => {
  await start(null);
  const answer = await fetch(`${api.url}/console`);
  expect([answer.status, await answer.json()]).toEqual([
    404,
    expect.objectContaining({ message: expect.stringContaining('not part of this installation') }),
  ]);
});
