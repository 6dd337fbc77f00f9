/**
 * Compiles a projection's source and runs it on its fixture before deployment: a bad source stops more than itself on a
 * server.
 */
import { readFileSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import { packageFile } from '../package-file.js';
import type { RecordedEvent } from '../ports/event-store.js';
import { compileProjection, type Projection, type ProjectionName } from './projection-source.js';

class FixtureFailed extends Error {
  override readonly name = 'FixtureFailed';
  readonly code = 'FIXTURE_FAILED';
}

/** Uses projections/fixtures/<name>.json: events and the expected state. @throws FixtureFailed */
export function rehearsed(name: ProjectionName, source: string): Projection {
  const file = packageFile(`projections/fixtures/${name}.json`);
  const { events, state } = JSON.parse(readFileSync(file, 'utf8')) as { events: RecordedEvent[]; state: unknown };
  try {
    const projection = compileProjection(name, source);
    let folded = projection.init();
    for (const event of events) folded = projection.fold(folded, event);
    if (isDeepStrictEqual(JSON.parse(JSON.stringify(folded)), state)) return projection;
  } catch (cause) {
    throw new FixtureFailed(`projections/${name}.js does not run`, { cause });
  }
  throw new FixtureFailed(`projections/${name}.js does not fold its fixture to the expected state`);
}
