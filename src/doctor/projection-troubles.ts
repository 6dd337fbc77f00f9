/** Faults of the projections at the event store's server, in sentences, each with the remedy. */
import type { Folding, ServerProjectionStatus } from '../ports/projection-server.js';
import type { Examined } from '../read-model/server-projections.js';

export interface Trouble {
  readonly says: string;
  readonly todo: string;
}

const DEPLOY = 'run account-webhooks projections deploy';
export const RUN_ALL = 'start it with --run-projections=All --start-standard-projections';

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

/** A fault of one projection. */
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
