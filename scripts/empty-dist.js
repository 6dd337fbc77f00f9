/** The first step of `npm pack`: what is left of sources that are gone would go into the package. */
import { rmSync } from 'node:fs';

rmSync(new URL('../dist', import.meta.url), { recursive: true, force: true });
