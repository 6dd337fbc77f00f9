/** token: requests an access token from a running service (OAuth 2.0 client credentials). */
import { type Command, Option } from 'commander';
import { type CommandIo, JSON_OPTION, pipedSecret } from './command-io.js';
import { ask, serviceUrl, URL_OPTION } from './service-client.js';

const CLIENT_ID = 'ACCOUNT_WEBHOOKS_CLIENT_ID';
const CLIENT_SECRET = 'ACCOUNT_WEBHOOKS_CLIENT_SECRET';
const FROM_STDIN = '-';

export interface CredentialOptions {
  readonly clientId?: string;
  readonly clientSecret?: string;
}

interface TokenOptions extends CredentialOptions {
  readonly url?: string;
  readonly json?: boolean;
}

export function tokenCommand(program: Command, io: CommandIo): void {
  const command = program
    .command('token')
    .description('get an access token from a running service; prints the bare token')
    .addOption(clientIdOption())
    .addOption(clientSecretOption(`omit, or pass ${FROM_STDIN}, to read it from stdin`))
    .option(...URL_OPTION)
    .option(...JSON_OPTION);
  command.action(async (options: TokenOptions) => {
    const secrets = await credentials(options, command, io);
    const response = await requestToken(serviceUrl(options.url, io.config), secrets);
    await io.print(options.json ? JSON.stringify(response) : response.access_token);
  });
}

export const clientIdOption = () => new Option('--client-id <id>').env(CLIENT_ID);
export const clientSecretOption = (text: string) => new Option('--client-secret <secret>', text).env(CLIENT_SECRET);

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
export function givenCredentials({ clientId, clientSecret }: CredentialOptions, command: Command): Credentials {
  if (clientId && clientSecret && clientSecret !== FROM_STDIN) return [clientId, clientSecret];
  command.error(
    `error: no credentials: set ${CLIENT_ID} and ${CLIENT_SECRET}, or pass --client-id and --client-secret`,
  );
}

/** An empty variable counts as unset, as for every setting. */
async function credentials(
  { clientId, clientSecret }: CredentialOptions,
  command: Command,
  io: CommandIo,
): Promise<Credentials> {
  if (!clientId) command.error(`error: no client id: pass --client-id, or set ${CLIENT_ID}`);
  const given = clientSecret === FROM_STDIN ? '' : clientSecret;
  const secret = given || (await pipedSecret(io));
  if (secret) return [clientId, secret];
  command.error(`error: no client secret: pipe it in, set ${CLIENT_SECRET}, or pass --client-secret`);
}
