import { findsItCleanAndLeavesItDirty } from './leaves-it-dirty.js';

test('finds it clean', findsItCleanAndLeavesItDirty);
