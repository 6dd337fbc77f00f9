/** Calls of the REST API with an account's access token. */
import { CommandFailed, type CommandIo, type JsonOption, pipedSecret } from './command-io.js';
import { ask, serviceUrl } from './service-client.js';

export const TOKEN_OPTION = ['--token <token>', 'access token (default: read from stdin)'] as const;

export interface ClientOptions extends JsonOption {
  readonly token?: string;
  readonly url?: string;
}

interface AccountRequest {
  readonly method: 'GET' | 'POST' | 'PATCH';
  readonly path: string;
  readonly json?: object;
}

export type AccountCall = <T>(request: AccountRequest) => Promise<T>;

/** @throws CommandFailed without a token */
export async function accountClient(io: CommandIo, { token: given, url }: ClientOptions): Promise<AccountCall> {
  const token = given ?? (await pipedSecret(io));
  if (!token) throw new CommandFailed('no access token: pass --token, or pipe one to stdin');
  const base = serviceUrl(url, io.config);
  return (request) => ask(base, { ...request, headers: { authorization: `Bearer ${token}` } });
}
