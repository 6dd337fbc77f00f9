/**
 * Checks the projections at the event store's server. The service does not need them: faults there affect auditors
 * only.
 */
import type { ProjectionServer } from '../ports/projection-server.js';
import { PROJECTIONS } from '../read-model/projection-source.js';
import { type Examined, examine } from '../read-model/server-projections.js';
import { type Finding, fail, ok, warn } from './check.js';
import { foldingTrouble, troubleOf } from './projection-troubles.js';

interface OpenedServer {
  /** Null if the store has none. */
  readonly projections: ProjectionServer | null;
}

export async function projectionsAtServer({ projections }: OpenedServer): Promise<readonly Finding[]> {
  if (!projections) return [];
  const trouble = foldingTrouble(await projections.folding());
  if (trouble) return [warn(trouble.says, trouble.todo)];
  const found = await Promise.all(PROJECTIONS.map((name) => examine(projections, name)));
  const findings = found.map(findingOf);
  // A fault of the server appears for each of them.
  return findings.filter(({ says }, place) => findings.findIndex((other) => other.says === says) === place);
}

function findingOf(examined: Examined): Finding {
  const { projection, condition, source } = examined;
  const trouble = troubleOf(examined);
  if (trouble) return (condition === 'faulted' ? fail : warn)(trouble.says, trouble.todo);
  return ok(`${projection} is running${source === 'unreadable' ? '; this user may not read by which source' : ''}`);
}
