/** Errors of settings. No message shows a value: it may be a secret in the wrong place. */
export class InvalidConfig extends Error {
  override readonly name: string = 'InvalidConfig';
  readonly code = 'INVALID_CONFIG';
}

export interface Problem {
  readonly key: string;
  /** Completes the key to a sentence. */
  readonly says: string;
}

/** All errors at once: one line each, which begins with the key. */
export class WrongSettings extends InvalidConfig {
  override readonly name = 'WrongSettings';

  readonly keys: readonly string[];
  readonly lines: readonly string[];

  constructor(problems: readonly Problem[]) {
    const lines = problems.map(lineOf);
    super(lines.join('\n'));
    this.keys = problems.map(({ key }) => key);
    this.lines = lines;
  }
}

/** An error of one setting. */
export function invalid(key: string, says: string): InvalidConfig {
  return new InvalidConfig(lineOf({ key, says }));
}

function lineOf({ key, says }: Problem): string {
  return `${key} ${says}`;
}
