/**
 * Which schema a SQLite file of DATA_DIR has, according to the file's header: application_id identifies our files by kind,
 * and user_version is the schema version. Lock files of groups stay empty, so they have neither.
 */
import { basename } from 'node:path';
import type { SqliteFile } from './open-file.js';

export interface FileSchema {
  readonly applicationId: number;
  /** The schema version: incremented with every change of the tables, 1 or greater. */
  readonly shape: number;
  /** The statements that create the tables of this version. */
  readonly schema: string;
}

/** other: ours, of another version. foreign: not one of ours. */
export type SchemaFound = 'empty' | 'same' | 'other' | 'foreign';

/** The file is left unchanged; the message names the file, the cause and the remedy. */
export class SchemaRefused extends Error {
  override readonly name = 'SchemaRefused';
  readonly code = 'SCHEMA_REFUSED';
}

export function schemaFound(file: SqliteFile, { applicationId, shape }: FileSchema): SchemaFound {
  const [mark, version] = [read(file, 'application_id'), shapeOf(file)];
  if (mark === 0 && version === 0 && isEmpty(file)) return 'empty';
  if (mark !== applicationId) return 'foreign';
  return version === shape ? 'same' : 'other';
}

function shapeOf(file: SqliteFile): number {
  return read(file, 'user_version');
}

/** Call within a transaction: tables and header are written together. */
export function makeSchema(file: SqliteFile, { applicationId, shape, schema }: FileSchema): void {
  file.exec(schema);
  file.pragma(`application_id = ${applicationId}`);
  file.pragma(`user_version = ${shape}`);
}

/** Writes nothing. @throws SchemaRefused for a file of a release with other tables, or one that isn't ours */
export function mustBeTaken(file: SqliteFile, schema: FileSchema): void {
  const found = schemaFound(file, schema);
  const name = basename(file.name);
  if (found === 'foreign') {
    throw new SchemaRefused(`${name} is a SQLite file of another program: check DATA_DIR`);
  }
  if (found === 'other') {
    const versions = `${name} has schema version ${shapeOf(file)}, and this release uses version ${schema.shape}`;
    throw new SchemaRefused(`${versions}: run the release that wrote it`);
  }
}

function isEmpty(file: SqliteFile): boolean {
  return file.prepare("SELECT 1 FROM sqlite_master WHERE type = 'table' LIMIT 1").get() === undefined;
}

function read(file: SqliteFile, pragma: 'application_id' | 'user_version'): number {
  return file.pragma(pragma, { simple: true }) as number;
}
