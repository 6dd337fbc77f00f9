/**
 * Tells of damage that a statement of a file comes upon. Those who use the file take an error for an outage that passes, and
 * try again for ever; so it is noticed here, whoever runs the statement.
 */
import { isCorrupt, type SqliteFile, type SqliteStatement } from './open-file.js';

type Tell = (error: unknown) => void;

/** From now on, of statements that are prepared from now on. @param tell may be told of the same damage many times */
export function tellDamage(file: SqliteFile, tell: Tell): void {
  const { prepare, exec } = file;
  // Overwritten on this object: a transaction of the driver does not go by these, and each of its statements does.
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

/** Left early, it closes the statement, as the driver's own iterator does. */
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
