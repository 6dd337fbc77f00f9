import { driver } from '../../src/adapters/sqlite/open-file.js';
import { ScratchFile } from '../../src/adapters/sqlite/scratch-file.js';

export function scratchInMemory(): ScratchFile {
  return new ScratchFile(new (driver())(':memory:'));
}
