/** A session of an account, opened by a token and entered like a browser does. */
import { type Answer, type Client, type Given, request } from './api-client.js';

export interface Opened {
  readonly id: string;
  readonly url: string;
  readonly expiresAt: string;
}

/** POST /api/portal-sessions; expects 201. */
export async function opened(client: Pick<Client, 'send'>, json: object = {}): Promise<Opened> {
  const { status, body } = await client.send<Opened>('POST', '/api/portal-sessions', { json });
  if (status !== 201) throw new Error(`no session was opened: ${status} ${JSON.stringify(body)}`);
  return body;
}

export const codeIn = ({ url }: Pick<Opened, 'url'>) => new URL(url).hash.replace('#code=', '');

/** POST /console/session. */
export function entering(url: string, code: string): Promise<Answer> {
  return request(url, 'POST', '/console/session', { json: { code } });
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
  send<B = Answer['body']>(method: string, path: string, given: Given = {}): Promise<Answer<B>> {
    const headers = { cookie: this.cookie, 'x-console': this.sessionId, ...given.headers };
    return request(this.url, method, path, { ...given, headers });
  }
}
