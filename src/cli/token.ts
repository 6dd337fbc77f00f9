/** token: asks a running service for an access token (OAuth 2.0 client credentials). */
import type { Command } from 'commander';
import { type CommandIo, JSON_OPTION } from './command-io.js';
import { ask, serviceUrl, URL_OPTION } from './service-client.js';

interface TokenOptions {
  readonly clientId: string;
  readonly clientSecret: string;
  readonly url?: string;
  readonly json?: boolean;
}

export function tokenCommand(program: Command, io: CommandIo): void {
  program
    .command('token')
    .description('get an access token from a running service; prints the bare token')
    .requiredOption('--client-id <id>')
    .requiredOption('--client-secret <secret>')
    .option(...URL_OPTION)
    .option(...JSON_OPTION)
    .action(async ({ clientId, clientSecret, url, json }: TokenOptions) => {
      const basic = Buffer.from(`${encodeURIComponent(clientId)}:${encodeURIComponent(clientSecret)}`).toString(
        'base64',
      );
      const response = await ask<{ access_token: string }>(serviceUrl(url, io.config), {
        method: 'POST',
        path: '/oauth/token',
        headers: { authorization: `Basic ${basic}` },
        form: { grant_type: 'client_credentials' },
      });
      await io.print(json ? JSON.stringify(response) : response.access_token);
    });
}
