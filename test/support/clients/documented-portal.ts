/** The portal of docs/console.md: docs/console/portal.mjs, as a process. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { freePort } from '../../services/free-port.js';
import { eventually } from '../clocks/eventually.js';
import type { Account } from '../scenes/story.js';

const FILE = fileURLToPath(new URL('../../../docs/console/portal.mjs', import.meta.url));
export const PASSWORD = 'portal';

export type Portal = Awaited<ReturnType<typeof documentedPortal>>;

export async function documentedPortal() {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  let stop = async () => undefined as unknown;
  return {
    url,
    /** A port on which nothing listens yet must be known to the service before it starts. */
    async start(service: string, { clientId, clientSecret }: Account): Promise<void> {
      const env = { SERVICE: service, CLIENT_ID: clientId, CLIENT_SECRET: clientSecret, PORT: String(port), PASSWORD };
      const child = spawn(process.execPath, [FILE], { env, stdio: 'inherit' });
      const closed = once(child, 'close');
      stop = () => {
        child.kill();
        return closed;
      };
      const answers = () => fetch(url).then(({ status }) => status === 401);
      await eventually(() => answers().catch(() => false), { message: 'the portal does not answer' });
    },
    async stop(): Promise<void> {
      await stop();
    },
  };
}
