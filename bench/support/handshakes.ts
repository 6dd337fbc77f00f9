/** The least that first deliveries cost: the CPU time of a TLS handshake with one request, measured in this process. */
import { Agent, request } from 'undici';

const CONCURRENT = 16;

/** @returns ms of CPU for each of the URLs, after as many for V8 to compile the code */
export async function handshakeCpuMs(urls: readonly string[], ca: string): Promise<number> {
  await requestEach(urls, ca);
  const before = process.cpuUsage();
  await requestEach(urls, ca);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000 / urls.length;
}

async function requestEach(urls: readonly string[], ca: string): Promise<void> {
  const dispatcher = new Agent({ connect: { ca } });
  const waiting = urls[Symbol.iterator]();
  const work = async () => {
    for (const url of waiting) await (await request(url, { method: 'POST', body: '{}', dispatcher })).body.dump();
  };
  await Promise.all(Array.from({ length: CONCURRENT }, work));
  await dispatcher.destroy();
}
