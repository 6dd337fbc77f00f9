/** Another commit beside this one: built in a temporary folder, gone when this process ends. */
import { execFileSync } from 'node:child_process';
import { readFileSync, symlinkSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { newFolder } from './folders.js';

const LOCK = 'package-lock.json';

/** @returns its folder */
export function treeOf(commit: string): string {
  const tree = join(newFolder(), 'tree');
  execFileSync('git', ['worktree', 'add', '--detach', tree, commit], { stdio: 'inherit' });
  // After its folder, which goes first.
  process.once('exit', () => execFileSync('git', ['worktree', 'prune']));
  const sameLock = readFileSync(LOCK).equals(readFileSync(join(tree, LOCK)));
  if (sameLock) symlinkSync(resolve('node_modules'), join(tree, 'node_modules'));
  else execFileSync('sh', ['scripts/install.sh'], { cwd: tree, stdio: 'inherit' });
  execFileSync('node', ['scripts/bundle.js'], { cwd: tree, stdio: 'inherit' });
  return tree;
}
