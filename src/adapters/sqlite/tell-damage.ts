/**
 * Reports damage that a file's statement meets. Callers take an error for a passing outage and retry without end; so damage
 * is detected here, for every statement.
 */
import { isCorrupt, type SqliteFile, type SqliteStatement } from './open-file.js';

type Tell = (error: unknown) => void;

/** From now on, for statements prepared from now on. @param tell may be called many times for the same damage */
export function tellDamage(file: SqliteFile, tell: Tell): void {
  const { prepare, exec } = file;
  // Overridden on this object: the driver's transactions bypass these overrides, their statements don't.
  file.prepare = ((sql: string) =>
    telling(
      told(tell, () => prepare.call(file, sql)),
      tell,
    )) as typeof prepare;
  file.exec = (sql) => told(tell, () => exec.call(file, sql));
}

function telling(statement: SqliteStatement, tell: Tell): SqliteStatement {
  const { run, get, all, iterate } = statement;
  statement.run = (...args) => told(tell, () => run.apply(statement, args));
  statement.get = (...args) => told(tell, () => get.apply(statement, args));
  statement.all = (...args) => told(tell, () => all.apply(statement, args));
  statement.iterate = (...args) => rows(iterate.apply(statement, args), tell);
  return statement;
}

/** If left early, it closes the statement, as the driver's own iterator does. */
function* rows(given: IterableIterator<unknown>, tell: Tell): IterableIterator<unknown> {
  try {
    yield* given;
  } catch (error) {
    if (isCorrupt(error)) tell(error);
    throw error;
  }
}

function told<T>(tell: Tell, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (isCorrupt(error)) tell(error);
    throw error;
  }
}
