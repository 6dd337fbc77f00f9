// A payment company's portal: its user signs in here, and sees the console of the account, embedded (/) or by a redirect (/open).
import { createServer } from 'node:http';

const { SERVICE, CLIENT_ID, CLIENT_SECRET, PORT, PASSWORD } = process.env;
// A stand-in for your own sign-in. What a user may do in the console is for your portal to decide.
const USERS = { maria: ['read', 'payloads', 'resend', 'configure'], joao: ['read'] };

function userOf({ headers }) {
  const [name, password] = Buffer.from(headers.authorization?.replace('Basic ', '') ?? '', 'base64')
    .toString()
    .split(':');
  return Object.hasOwn(USERS, name) && password === PASSWORD ? name : null;
}

async function posted(path, authorization, body) {
  const type = typeof body === 'string' ? { 'content-type': 'application/json' } : {};
  const response = await fetch(SERVICE + path, { method: 'POST', headers: { authorization, ...type }, body });
  if (!response.ok) throw new Error(`${path} answered ${response.status}: ${await response.text()}`);
  return response.json();
}

/** Works once, within 60 seconds: ask for one each time that the user opens the console. */
async function consoleUrl(user) {
  const basic = `Basic ${Buffer.from(`${CLIENT_ID}:${CLIENT_SECRET}`).toString('base64')}`;
  const { access_token: token } = await posted(
    '/oauth/token',
    basic,
    new URLSearchParams({ grant_type: 'client_credentials' }),
  );
  const session = { user, can: USERS[user], lifetime: '30m' };
  return (await posted('/api/portal-sessions', `Bearer ${token}`, JSON.stringify(session))).url;
}

async function answer(request, response) {
  const user = userOf(request);
  if (!user) return response.writeHead(401, { 'www-authenticate': 'Basic realm="portal"' }).end();
  if (!['/', '/open'].includes(request.url)) return response.writeHead(404).end();
  const url = await consoleUrl(user);
  response.setHeader('cache-control', 'no-store');
  if (request.url === '/open') return response.writeHead(303, { location: url }).end();
  const frame = `<iframe src="${url}" title="Webhooks" allow="clipboard-write" style="width: 100%; height: 90vh; border: 0"></iframe>`;
  response
    .writeHead(200, { 'content-type': 'text/html' })
    .end(`<!doctype html><title>Portal</title><h1>Portal</h1>${frame}`);
}

createServer((request, response) => {
  answer(request, response).catch((error) => response.writeHead(502).end(error.message));
}).listen(Number(PORT), '127.0.0.1');
