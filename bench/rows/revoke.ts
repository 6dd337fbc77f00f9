/**
 * A credential of an account with a long history is revoked by another process, as `accounts revoke-credential` does: how long
 * the service accepts the credential, and the token issued for it, from then on.
 */
import { randomBytes, randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { request } from 'undici';
import { createRegistration, type IssuedCredential, type Registration } from '../../src/accounts/registration.js';
import { openBackbone } from '../../src/composition/backbone.js';
import { createLogger } from '../../src/observability/logger.js';
import { readConfig } from '../../src/settings/read-config.js';
import { amount } from '../support/format.js';
import { openInstallation, startService } from '../support/installation.js';
import { populate } from '../support/population.js';
import { eachRound } from '../support/rounds.js';
import type { Outcome, Row, Tell } from '../support/row.js';
import { tokenResponse } from '../support/tokens.js';

const ACCOUNT = 1;
const EVENTS = 100_000;
const ASK_EVERY_MS = 2;
const CONTEXT = { actor: 'bench', requestId: 'bench', correlationId: 'bench' };

export const revoke: Row = {
  name: 'revoke',
  title: `A credential is revoked after ${EVENTS.toLocaleString('en-US')} events of its account: until it is rejected`,
  figure: { kind: 'below', value: 1_000, unit: 'ms' },
  run,
};

async function run(tell: Tell): Promise<Outcome> {
  const { settings, close } = await openInstallation({ receivers: 0 });
  await populate(settings, { accounts: 1, urls: () => ['https://localhost/payments'], updates: EVENTS }, tell);
  const service = await startService(settings);
  const { store, sealing, ...backbone } = await openBackbone(readConfig(settings), createLogger('warn'));
  const registration = createRegistration({
    store,
    sealing,
    randomBytes,
    newEventId: randomUUID,
    now: () => new Date(),
  });
  try {
    const turn = () => rejectedAfterMs(service.url, registration);
    const rounds = await eachRound(
      tell,
      turn,
      (ms) => `token ${amount(ms.token, 'ms')}, secret ${amount(ms.secret, 'ms')}`,
    );
    const values = rounds.map(({ token, secret }) => Math.max(token, secret));
    return { kind: 'measured', values, sides: [], notes: ['From the append of the event to the first 401.'] };
  } finally {
    await backbone.close();
    await service.stop('SIGTERM');
    await close();
  }
}

async function rejectedAfterMs(url: string, registration: Registration) {
  const credential = await registration.issueCredential(ACCOUNT, CONTEXT);
  const token = await eventualToken(url, credential);
  const headers = { authorization: `Bearer ${token}` };
  const readStatus = async () => {
    const { statusCode, body } = await request(`${url}/api/credentials`, { headers });
    await body.dump();
    return statusCode;
  };
  if ((await readStatus()) !== 200) throw new Error('the token was rejected before its credential was revoked');
  await registration.revokeCredential(credential.clientId, CONTEXT);
  const from = performance.now();
  const [afterToken, afterSecret] = await Promise.all([
    rejected(readStatus, from),
    rejected(async () => (await tokenResponse(url, credential)).status, from),
  ]);
  return { token: afterToken, secret: afterSecret };
}

async function eventualToken(url: string, credential: IssuedCredential): Promise<string> {
  for (;;) {
    const { status, body } = await tokenResponse(url, credential);
    if (status === 200) return body.access_token;
    await delay(ASK_EVERY_MS);
  }
}

/** @returns ms from `from` to the first 401 */
async function rejected(statusOf: () => Promise<number>, from: number): Promise<number> {
  while ((await statusOf()) !== 401) await delay(ASK_EVERY_MS);
  return performance.now() - from;
}
