/** The command line: one file per group of commands, and the handling of failures. Exit codes: 0 done, 1 failed, 2 wrong usage. */
import { Command, CommanderError } from 'commander';
import { version } from '../package-file.js';
import { WrongSettings } from '../settings/invalid-config.js';
import { type CommandIo, OutputFailed } from './command-io.js';

const FAILED = 1;
const WRONG_USAGE = 2;

type Register = (program: Command, io: CommandIo, run: typeof runCommandLine) => void;

/** Loaded on demand: all of them together take half a second. */
const COMMANDS: Readonly<Record<string, () => Promise<Register>>> = {
  serve: async () => (await import('./serve.js')).serveCommand,
  accounts: async () => (await import('./accounts.js')).accountsCommand,
  publishers: async () => (await import('./accounts.js')).publishersCommand,
  token: async () => (await import('./token.js')).tokenCommand,
  webhooks: async () => (await import('./webhooks.js')).webhooksCommand,
  events: async () => (await import('./events-publish.js')).eventsCommand,
  audit: async () => (await import('./audit.js')).auditCommand,
  projections: async () => (await import('./projections.js')).projectionsCommand,
  deliveries: async () => (await import('./deliveries.js')).deliveriesCommand,
  'dead-letters': async () => (await import('./dead-letters.js')).deadLettersCommand,
  store: async () => (await import('./store-accept.js')).storeCommand,
  backup: async () => (await import('./backup.js')).backupCommand,
  doctor: async () => (await import('./doctor.js')).doctorCommand,
  demo: async () => (await import('./demo/demo.js')).demoCommand,
};

export async function runCommandLine(
  args: readonly string[],
  io: CommandIo,
  complain: (line: string) => void,
): Promise<number> {
  // Commander writes help and version, and throws before they are written.
  let shown: Promise<unknown> = Promise.resolve();
  const writeOut = (text: string) => {
    const lines = text.replace(/\n$/, '').split('\n');
    shown = Promise.all(lines.map(io.print));
    shown.catch(() => undefined);
  };
  const program = new Command('account-webhooks')
    .description(
      'Event-sourced webhooks for instant-payment accounts. Environment variables configure it: see docs/settings.md.',
    )
    .version(version(), '--version')
    .exitOverride()
    .configureOutput({ writeOut, outputError: (text, write) => write(withoutValues(text)) })
    .showHelpAfterError('(run with --help for usage)');
  for (const load of asked(args.find((word) => word !== 'help'))) (await load())(program, io, runCommandLine);
  try {
    const done = await parsed(program, args);
    await shown;
    return done ? 0 : WRONG_USAGE;
  } catch (error) {
    // Nothing is said, and nothing is vouched for: what it would have found is not known.
    if (error instanceof OutputFailed && error.isReaderGone) return FAILED;
    for (const line of linesOf(error)) complain(line);
    return FAILED;
  }
}

/** Runs the command. False if commander refused its arguments, and has said so. */
async function parsed(program: Command, args: readonly string[]): Promise<boolean> {
  try {
    await program.parseAsync(args, { from: 'user' });
    return true;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0;
    throw error;
  }
}

/** The named command; all commands if there is none, for the help. The version needs none. */
function asked(name = ''): (() => Promise<Register>)[] {
  if (name === '--version') return [];
  const load = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  return load ? [load] : Object.values(COMMANDS);
}

const OPTION_NAME = /^(-[A-Za-z]|--[a-z]+(-[a-z]+)*)$/;

/** Names a mistyped option without its value, maybe a secret; no word that begins like one: 1 in 64 secrets does. */
function withoutValues(text: string): string {
  return text.replace(/unknown option '(.*)'/s, (_, word: string) => {
    const [name = ''] = word.split('=');
    return OPTION_NAME.test(name) ? `unknown option '${name}'` : 'unknown option';
  });
}

/** One line, preceded by one per wrong setting. */
function linesOf(error: unknown): readonly string[] {
  if (error instanceof WrongSettings) return [...error.lines, `account-webhooks: set right: ${error.keys.join(', ')}`];
  const text = error instanceof Error ? error.message : String(error);
  return [`account-webhooks: ${text.split('\n')[0] ?? 'failed'}`];
}
