/** token: requests an access token from a running service (OAuth 2.0 client credentials). */
import { type Command, Option } from 'commander';
import { type CommandIo, JSON_OPTION, pipedSecret } from './command-io.js';
import { ask, serviceUrl, URL_OPTION } from './service-client.js';

const CLIENT_ID = 'ACCOUNT_WEBHOOKS_CLIENT_ID';
const CLIENT_SECRET = 'ACCOUNT_WEBHOOKS_CLIENT_SECRET';
const FROM_STDIN = '-';

interface TokenOptions {
  readonly clientId?: string;
  readonly clientSecret?: string;
  readonly url?: string;
  readonly json?: boolean;
}

export function tokenCommand(program: Command, io: CommandIo): void {
  const command = program
    .command('token')
    .description('get an access token from a running service; prints the bare token')
    .addOption(new Option('--client-id <id>').env(CLIENT_ID))
    .addOption(
      new Option('--client-secret <secret>', `omit, or pass ${FROM_STDIN}, to read it from stdin`).env(CLIENT_SECRET),
    )
    .option(...URL_OPTION)
    .option(...JSON_OPTION);
  command.action(async (options: TokenOptions) => {
    const basic = Buffer.from((await credentials(options, command, io)).map(encodeURIComponent).join(':'));
    const response = await ask<{ access_token: string }>(serviceUrl(options.url, io.config), {
      method: 'POST',
      path: '/oauth/token',
      headers: { authorization: `Basic ${basic.toString('base64')}` },
      form: { grant_type: 'client_credentials' },
    });
    await io.print(options.json ? JSON.stringify(response) : response.access_token);
  });
}

/** An empty variable counts as unset, as for every setting. */
async function credentials({ clientId, clientSecret }: TokenOptions, command: Command, io: CommandIo) {
  if (!clientId) command.error(`error: no client id: pass --client-id, or set ${CLIENT_ID}`);
  const given = clientSecret === FROM_STDIN ? '' : clientSecret;
  const secret = given || (await pipedSecret(io));
  if (secret) return [clientId, secret];
  command.error(`error: no client secret: pipe it in, set ${CLIENT_SECRET}, or pass --client-secret`);
}
