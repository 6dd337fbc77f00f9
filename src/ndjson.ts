/** Newline-delimited JSON, as the command line and the API read it. */
export const NEWLINE = 0x0a;
export const CARRIAGE_RETURN = 0x0d;

/** Empty, or the carriage return of a Windows line end. Such lines are skipped. */
export function isBlankLine(line: Buffer): boolean {
  return line.length === 0 || (line.length === 1 && line[0] === CARRIAGE_RETURN);
}
