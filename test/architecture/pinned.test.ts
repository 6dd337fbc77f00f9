/** What others publish under a name that they can move is named by its digest: actions and images. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '../..');
const WORKFLOWS = '.github/workflows';
const PINNED_ACTION = /^[\w.-]+\/[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/;
const PINNED_IMAGE = /^[\w./-]+:[\w.-]+@sha256:[0-9a-f]{64}$/;
/** Named by their tag alone: built here, or a digest that nobody could tell us for certain. */
const UNPINNED = ['account-webhooks', 'eventstore/eventstore:23.10.6-bookworm-slim'];

const WORKFLOW_FILES = readdirSync(join(ROOT, WORKFLOWS)).map((name) => `${WORKFLOWS}/${name}`);

/** What follows the key on its line, in every file. */
function named(key: RegExp, files: readonly string[]): string[] {
  const lines = files.flatMap((file) => readFileSync(join(ROOT, file), 'utf8').split('\n'));
  return lines.flatMap((line) => key.exec(line)?.[1]?.trim() ?? []);
}

describe('each', () => {
  it('action of a workflow is a commit, with its version beside it', () => {
    const actions = named(/^[\s-]*uses:(.*)$/, WORKFLOW_FILES);
    expect(actions.length).toBeGreaterThan(0);
    expect(actions.filter((action) => !PINNED_ACTION.test(action))).toEqual([]);
  });

  it('image is a digest, with its tag beside it', () => {
    const images = [
      ...named(/^\s*image: (.*)$/, [...WORKFLOW_FILES, 'docker-compose.yml']),
      ...named(/^FROM (\S+)/, ['Dockerfile']),
    ];
    expect(images.length).toBeGreaterThan(UNPINNED.length);
    expect(images.filter((image) => !PINNED_IMAGE.test(image) && !UNPINNED.includes(image))).toEqual([]);
  });
});
