/** Commander's command tree plus two missing features: help for nested commands, and unknown options reported first. */
import { Command } from 'commander';

export class CommandOfTree extends Command {
  override createCommand(name?: string): CommandOfTree {
    return new CommandOfTree(name);
  }

  /**
   * Commander reports missing options before unknown ones: `--acount` would hide behind `--account`. And it finds no
   * suggestion for `--acount=42` as a whole.
   */
  override parseOptions(args: string[]): ReturnType<Command['parseOptions']> {
    const { operands, unknown } = super.parseOptions(args);
    if (unknown.length === 0 || this.commands.length > 0) return { operands, unknown };
    for (const option of this.options) option.mandatory = false;
    return { operands, unknown: unknown.map((word) => word.replace(/^(--[^=]+)=.*/s, '$1')) };
  }
}

/**
 * `help audit log` and `audit help log` become `audit log --help`: commander's own help looks one level down. Commander
 * itself refuses an unknown command, with a suggestion; words after a complete command are dropped.
 */
export function helpAsOption(program: Command, args: readonly string[]): readonly string[] {
  const at = args.indexOf('help');
  const before = args.slice(0, at);
  if (at === -1 || !isGroup(found(program, before))) return args;
  const path: string[] = [];
  for (const name of [...before, ...args.slice(at + 1)]) {
    if (!isGroup(found(program, path))) break;
    path.push(name);
    if (!found(program, path)) return path;
  }
  return [...path, '--help'];
}

function found(program: Command, path: readonly string[]): Command | undefined {
  return path.reduce<Command | undefined>(
    (command, name) => command?.commands.find((next) => next.name() === name),
    program,
  );
}

function isGroup(command: Command | undefined): boolean {
  return command !== undefined && command.commands.length > 0;
}
