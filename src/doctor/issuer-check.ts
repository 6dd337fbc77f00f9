/** Checks AUTH_JWKS_URL: whether it returns keys, and whether its clock agrees. */
import { jsonOf, unreachable } from '../accounts/fetch-key-set.js';
import type { Config } from '../settings/config.js';
import { type Check, type Finding, fail, ok, warn } from './check.js';

const ANSWER_WITHIN_MS = 5_000;
/** Date has a resolution of seconds, and the response takes time. */
const SKEW_SAID_MS = 5_000;
/** Beyond this, fresh tokens are refused or tokens live too long. */
const SKEW_HARMS_MS = 60_000;
const SET_CLOCK = 'synchronize the clock of this machine (or of the issuer) by NTP';

/** @param now ms since the epoch */
export function issuerChecks({ auth }: Config, now: () => number): Check[] {
  const { jwksUrl } = auth;
  return jwksUrl === null ? [] : [{ name: 'AUTH_JWKS_URL', run: () => issuer(jwksUrl, now) }];
}

async function issuer(url: string, now: () => number): Promise<readonly Finding[]> {
  const asked = { signal: AbortSignal.timeout(ANSWER_WITHIN_MS), redirect: 'manual' } as const;
  const response = await fetch(url, asked).catch((error: unknown) =>
    asked.signal.aborted ? 'no answer within 5 s' : unreachable(error, url),
  );
  if (typeof response === 'string') return [fail(response, 'check the URL and the network')];
  const keys = await jsonOf(response).then(
    (body) => (body as { keys?: unknown } | null)?.keys,
    () => null,
  );
  if (response.status !== 200 || !Array.isArray(keys) || keys.length === 0) {
    return [
      fail(`the response has status ${response.status} and no keys`, 'set AUTH_JWKS_URL to the JWKS of the issuer'),
    ];
  }
  return [ok(`the response has ${keys.length} ${keys.length === 1 ? 'key' : 'keys'}`), ...clock(response, now())];
}

function clock(response: Response, now: number): Finding[] {
  const skew = now - Date.parse(response.headers.get('date') ?? '');
  if (!Number.isFinite(skew)) return [];
  const says = `the clock here is ${(Math.abs(skew) / 1_000).toFixed(0)} s ${skew < 0 ? 'behind' : 'ahead of'} the issuer's`;
  if (Math.abs(skew) > SKEW_HARMS_MS) return [fail(says, SET_CLOCK)];
  return [Math.abs(skew) > SKEW_SAID_MS ? warn(says, SET_CLOCK) : ok("the clock agrees with the issuer's")];
}
