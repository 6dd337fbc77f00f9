/** The command line: one file per command, and what their failures become. Exit codes: 0 done, 1 failed, 2 wrong usage. */
import { Command, CommanderError } from 'commander';
import { accountsCommand } from './accounts.js';
import { auditCommand } from './audit.js';
import type { CommandIo } from './command-io.js';
import { deadLettersCommand, deliveriesCommand } from './deliveries.js';
import { demoCommand } from './demo.js';
import { eventsCommand } from './events-publish.js';
import { projectionsCommand } from './projections.js';
import { serveCommand } from './serve.js';
import { tokenCommand } from './token.js';
import { webhooksCommand } from './webhooks.js';

const FAILED = 1;
const WRONG_USAGE = 2;

export async function runCommandLine(
  args: readonly string[],
  io: CommandIo,
  complain: (line: string) => void,
): Promise<number> {
  const program = new Command('account-webhooks')
    .description(
      'Event-sourced webhooks for instant-payment accounts. Settings come from the environment: see the README.',
    )
    .exitOverride()
    .showHelpAfterError('(--help shows what there is)');
  const commands = [serveCommand, accountsCommand, tokenCommand, webhooksCommand, eventsCommand, auditCommand];
  for (const add of [...commands, projectionsCommand, deliveriesCommand, deadLettersCommand, demoCommand])
    add(program, io);
  try {
    await program.parseAsync(args, { from: 'user' });
    return 0;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : WRONG_USAGE;
    complain(`account-webhooks: ${messageOf(error)}`);
    return FAILED;
  }
}

/** One line. Errors of ours say what to do; of others the code is what helps. */
function messageOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return text.split('\n')[0] ?? 'failed';
}
