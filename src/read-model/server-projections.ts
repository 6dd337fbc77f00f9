/** Deploys and repairs the projections on the event store's server, whatever was done to them there. */
import { ProjectionMissing } from '../ports/projection-server.js';
import { rehearsed } from './projection-rehearsal.js';
import { type ProjectionName, projectionSource } from './projection-source.js';
import { untilCaughtUp, untilStopped, type Watching } from './server-catch-up.js';
import { type Condition, examine, isDeployed, type ServerParts, writeDownDeployment } from './server-condition.js';

export interface Deployed {
  readonly projection: ProjectionName;
  /** rebuilt: it has folded from the beginning again, with this program's source. started: it resumed where it was. */
  readonly outcome: 'created' | 'rebuilt' | 'started' | 'unchanged';
  /** The reason in words; null if there is none. */
  readonly cause: string | null;
}

/**
 * Afterwards the projection runs this program's source, and has folded all events of the store.
 * @throws FixtureFailed, StandsStill, StoreUnavailable, ProjectionsOff
 */
export async function deploy(parts: ServerParts, name: ProjectionName, watching: Watching): Promise<Deployed> {
  rehearsed(name, projectionSource(name));
  const { condition } = await examine(parts, name);
  const wasDeployed = await isDeployed(parts.store, name);
  const step = nextStep(condition, wasDeployed);
  switch (step.outcome) {
    case 'created':
      await parts.server.put(name, projectionSource(name));
      break;
    case 'rebuilt':
      await foldAgain(parts, name, condition, watching);
      break;
    case 'started':
      await parts.server.start(name);
      break;
    case 'unchanged':
      return { projection: name, ...step };
    default:
      step.outcome satisfies never;
  }
  await writeDownDeployment(parts.store, name);
  await untilCaughtUp(parts, name, watching);
  return { projection: name, ...step };
}

type Step = Pick<Deployed, 'outcome' | 'cause'>;

/** @param wasDeployed whether a deployment of this source is recorded: it isn't if the deployment was interrupted */
function nextStep(condition: Condition, wasDeployed: boolean): Step {
  switch (condition) {
    case 'missing':
      return { outcome: 'created', cause: null };
    case 'faulted':
      return { outcome: 'rebuilt', cause: 'the projection was faulted' };
    case 'other-source':
      return { outcome: 'rebuilt', cause: wasDeployed ? 'the server ran another source' : 'its source has changed' };
    case 'system-only':
    case 'stopped':
      return wasDeployed ? { outcome: 'started', cause: 'the projection was stopped' } : CUT_SHORT;
    case 'folding':
    case 'running':
      return wasDeployed ? { outcome: 'unchanged', cause: null } : CUT_SHORT;
    default:
      return condition satisfies never;
  }
}

const CUT_SHORT: Step = { outcome: 'rebuilt', cause: 'its deployment was interrupted' };

/** @throws ProjectionMissing, FixtureFailed, StandsStill, StoreUnavailable, ProjectionsOff */
export async function rebuild(parts: ServerParts, name: ProjectionName, watching: Watching): Promise<Deployed> {
  rehearsed(name, projectionSource(name));
  const { condition } = await examine(parts, name);
  if (condition === 'missing') throw new ProjectionMissing(name);
  await foldAgain(parts, name, condition, watching);
  await writeDownDeployment(parts.store, name);
  await untilCaughtUp(parts, name, watching);
  return { projection: name, outcome: 'rebuilt', cause: null };
}

/** Reset does not start a stopped projection: so it is always started at the end. A faulted one doesn't run. */
async function foldAgain(parts: ServerParts, name: ProjectionName, condition: Condition, watching: Watching) {
  const { server } = parts;
  if (condition !== 'faulted') {
    await server.stop(name);
    await untilStopped(parts, name, watching);
  }
  await server.put(name, projectionSource(name));
  await server.reset(name);
  await server.start(name);
}
