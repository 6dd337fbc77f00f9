/** The form of the parsers, which turn a setting's text into its value, and their building blocks. */
export interface Parser<T> {
  /** Completes "KEY must be". */
  readonly expected: string;
  /** Undefined: the text is not valid. */
  readonly parse: (text: string) => T | undefined;
}

/** @param pattern matches the whole text */
export function matching(pattern: string, expected: string): Parser<string> {
  const whole = new RegExp(`^(?:${pattern})$`, 'u');
  return { expected, parse: (text) => (whole.test(text) ? text : undefined) };
}

/** Converts the value of `parser`. Undefined: the value is not valid after all. */
export function becoming<T, U>(parser: Parser<T>, become: (value: T) => U | undefined): Parser<U> {
  const parse = (text: string) => {
    const value = parser.parse(text);
    return value === undefined ? undefined : become(value);
  };
  return { expected: parser.expected, parse };
}

/** Null if the setting is unset and has no default. */
export function optional<T>(parser: Parser<T>): Parser<T | null> {
  return { expected: parser.expected, parse: (text) => (text === '' ? null : parser.parse(text)) };
}

/** Separated by commas. */
export function listOf<T>(item: Parser<T>, expected: string): Parser<readonly [T, ...T[]]> {
  const parse = (text: string) => {
    const [first, ...rest] = text.split(',').map(item.parse);
    return first === undefined || !rest.every((one) => one !== undefined) ? undefined : ([first, ...rest] as const);
  };
  return { expected, parse };
}
