/**
 * Checks the projections at the event store's server, and says each fault in a sentence with its remedy. The service does not
 * need them: faults there affect auditors only.
 */
import type { Folding, ProjectionServer, ServerProjectionStatus } from '../ports/projection-server.js';
import { PROJECTIONS } from '../read-model/projection-source.js';
import { type Examined, examine } from '../read-model/server-projections.js';
import { type Finding, fail, ok, warn } from './check.js';

/** @param projections null if the event store has no server-side projections */
export async function projectionsAtServer(projections: ProjectionServer | null): Promise<readonly Finding[]> {
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

export interface Trouble {
  readonly says: string;
  readonly todo: string;
}

const DEPLOY = 'run account-webhooks projections deploy';
const RUN_ALL = 'start it with --run-projections=All --start-standard-projections';

/** A fault of the server: it folds nothing. */
export function foldingTrouble(folding: Folding): Trouble | null {
  switch (folding) {
    case 'on':
      return null;
    case 'off':
      return { says: 'projections are off at the server', todo: RUN_ALL };
    case 'no-categories':
      return {
        says: '$by_category is stopped at the server, and no projection advances without it',
        todo: 'enable it there, or start the server with --start-standard-projections',
      };
    default:
      return folding satisfies never;
  }
}

/** `Running, 59.6 % folded`. Rounded down, so that only the whole history is 100 %. */
export function statusText({ status, progress }: Pick<ServerProjectionStatus, 'status' | 'progress'>): string {
  return progress === null ? status : `${status}, ${Math.floor(progress * 10) / 10} % folded`;
}

export function troubleOf({ projection, condition, status }: Examined): Trouble | null {
  switch (condition) {
    case 'running':
      return null;
    case 'missing':
      return { says: `${projection} is not deployed`, todo: DEPLOY };
    case 'other-source':
      return { says: `${projection} runs with another source than this program's`, todo: DEPLOY };
    case 'faulted':
    case 'stopped':
      return { says: `${projection} is ${status?.status}`, todo: DEPLOY };
    case 'folding':
      return { says: `${projection} is ${status && statusText(status)}`, todo: 'wait for it' };
    case 'system-only':
      return { says: 'the server runs only its system projections', todo: RUN_ALL };
    default:
      return condition satisfies never;
  }
}
