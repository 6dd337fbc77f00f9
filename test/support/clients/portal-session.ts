/** A session of an account, opened by a token and entered like a browser does. */
import type { Answer, Client } from '../scenes/api-fixture.js';
import { expectDocumented } from './documented.js';

export interface Opened {
  readonly id: string;
  readonly url: string;
  readonly expiresAt: string;
}

export const JSON_TYPE = { 'content-type': 'application/json' };

/** POST /api/portal-sessions; expects 201. */
export async function opened(client: Pick<Client, 'send'>, body: object = {}): Promise<Opened> {
  const bytes = JSON.stringify(body);
  const answer = await client.send('POST', '/api/portal-sessions', { headers: JSON_TYPE, bytes });
  if (answer.status !== 201) throw new Error(`no session was opened: ${answer.status} ${answer.body.message}`);
  return answer.body as unknown as Opened;
}

export const codeIn = ({ url }: Pick<Opened, 'url'>) => new URL(url).hash.replace('#code=', '');

export async function sent(url: string, method: string, path: string, init: RequestInit = {}): Promise<Answer> {
  const response = await fetch(url + path, { method, ...init });
  const body = (await response.json()) as Answer['body'];
  const answer = { status: response.status, headers: response.headers, body };
  await expectDocumented(url, { method, path, ...answer });
  return answer;
}

/** POST /console/session. */
export function entering(url: string, code: string): Promise<Answer> {
  return sent(url, 'POST', '/console/session', { headers: JSON_TYPE, body: JSON.stringify({ code }) });
}

/** A page that is one session, in a browser with its cookie. */
export class Browser {
  constructor(
    readonly url: string,
    readonly cookie: string,
    readonly sessionId = /ps_[0-9a-f]{16}/.exec(cookie)?.[0] ?? '',
  ) {}

  static async in(url: string, session: Pick<Opened, 'url'>): Promise<Browser> {
    const answer = await entering(url, codeIn(session));
    if (answer.status !== 200) throw new Error(`the code was refused: ${answer.body.message}`);
    return new Browser(url, (answer.headers.get('set-cookie') ?? '').split(';')[0] ?? '');
  }

  /** The same browser, at another process. */
  at(url: string): Browser {
    return new Browser(url, this.cookie, this.sessionId);
  }

  /** As a script of the page: names its session. */
  send(
    method: string,
    path: string,
    { headers = {}, bytes }: { headers?: Readonly<Record<string, string>>; bytes?: string } = {},
  ): Promise<Answer> {
    const own = { cookie: this.cookie, 'x-console': this.sessionId };
    return sent(this.url, method, path, {
      headers: { ...own, ...headers },
      ...(bytes !== undefined && { body: bytes }),
    });
  }
}
