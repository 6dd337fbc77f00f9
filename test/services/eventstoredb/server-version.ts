/**
 * The servers that the test server can stand for: EventStoreDB 23.10 and KurrentDB 25 differ in what a client sees of them.
 * EVENTSTOREDB_VERSION makes all test servers one of them.
 */
export const SERVER_VERSIONS = ['23.10', '25'] as const;
export type ServerVersion = (typeof SERVER_VERSIONS)[number];

export const DEFAULT_VERSION: ServerVersion = versionOf(process.env.EVENTSTOREDB_VERSION) ?? '23.10';

function versionOf(text: string | undefined): ServerVersion | undefined {
  if (!text) return undefined;
  const version = SERVER_VERSIONS.find((each) => each === text);
  if (!version) throw new Error(`EVENTSTOREDB_VERSION is ${text}; it may be ${SERVER_VERSIONS.join(' or ')}`);
  return version;
}
