/** token: requests an access token from a running service (OAuth 2.0 client credentials). */
import type { Command } from 'commander';
import { command, option, type Running } from './command.js';
import { type CommandIo, pipedSecret } from './command-io.js';
import { ask, serviceUrl, URL_OPTION } from './service-client.js';

const CLIENT_ID = 'ACCOUNT_WEBHOOKS_CLIENT_ID';
const CLIENT_SECRET = 'ACCOUNT_WEBHOOKS_CLIENT_SECRET';

export interface CredentialOptions {
  readonly clientId?: string;
  readonly clientSecret?: string;
}

type TokenOptions = CredentialOptions & { readonly url?: string };

export function tokenCommand(program: Command, io: CommandIo): void {
  command<TokenOptions>(program, io, {
    name: 'token',
    says: 'get an access token from a running service; prints the bare token',
    options: [clientIdOption(), clientSecretOption('omit it to read it from stdin'), URL_OPTION()],
    async run(running) {
      const secrets = await credentials(running);
      const response = await requestToken(serviceUrl(running.options.url, io.config), secrets);
      await running.print(response, response.access_token);
    },
  });
}

export const clientIdOption = () => option('--client-id <id>', '').env(CLIENT_ID);
export const clientSecretOption = (text: string) => option('--client-secret <secret>', text).env(CLIENT_SECRET);

/** @throws CommandFailed */
export function requestToken(url: string, [clientId, clientSecret]: Credentials) {
  const basic = Buffer.from([clientId, clientSecret].map(encodeURIComponent).join(':'));
  return ask<{ readonly access_token: string }>(url, {
    method: 'POST',
    path: '/oauth/token',
    headers: { authorization: `Basic ${basic.toString('base64')}` },
    form: { grant_type: 'client_credentials' },
  });
}

export type Credentials = readonly [clientId: string, clientSecret: string];

/** For a command whose stdin has something else. */
export function givenCredentials(running: Running<CredentialOptions>): Credentials {
  const { clientId, clientSecret } = running.options;
  if (clientId && clientSecret) return [clientId, clientSecret];
  running.refuse(`no credentials: set ${CLIENT_ID} and ${CLIENT_SECRET}, or pass --client-id and --client-secret`);
}

/** An empty variable counts as unset, as for every setting. */
async function credentials(running: Running<CredentialOptions>): Promise<Credentials> {
  const { clientId, clientSecret } = running.options;
  if (!clientId) running.refuse(`no client id: pass --client-id, or set ${CLIENT_ID}`);
  const secret = clientSecret || (await pipedSecret(running.io));
  if (secret) return [clientId, secret];
  running.refuse(`no client secret: pipe it in, set ${CLIENT_SECRET}, or pass --client-secret`);
}
