import type { LookupAddress } from 'node:dns';
import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as nextTick } from 'node:timers/promises';
import { NameResolver, type NameResolverOptions } from '../../src/endpoints/name-resolver.js';
import { SystemLookups } from '../../src/endpoints/system-lookups.js';
import { temporaryDirectory } from '../support/scenes/temporary-directory.js';
import { type NameAnswer, type NameServer, type Query, startNameServer } from '../support/servers/name-server.js';

let now = 0;
let folder: ReturnType<typeof temporaryDirectory>;
let server: NameServer;
let resolver: NameResolver;

beforeEach(() => {
  now = 0;
  folder = temporaryDirectory();
});

afterEach(async () => {
  resolver.close();
  await server.close();
  folder.remove();
});

type Answers = (query: Query) => NameAnswer | Promise<NameAnswer>;

async function start(answer: Answers, options: Partial<NameResolverOptions> = {}, ttl?: number): Promise<void> {
  server = await startNameServer(answer, ttl === undefined ? {} : { ttl });
  const files = { hostsFile: join(folder.path, 'hosts'), resolverFile: join(folder.path, 'resolv.conf') };
  resolver = new NameResolver({ limitMs: 60_000, now: () => now, servers: [server.address], ...files, ...options });
}

function lookup(name: string, accountId = 42): Promise<LookupAddress[]> {
  return new Promise((resolve, reject) => {
    const callback = (error: Error | null, found: LookupAddress[]) => (error ? reject(error) : resolve(found));
    resolver.lookup(name, { all: true }, callback, accountId);
  });
}

const addresses = async (name: string) => (await lookup(name)).map(({ address }) => address);
const codeOf = (name: string) => lookup(name).catch(({ code }: NodeJS.ErrnoException) => code);
const writeHosts = (text: string) => {
  // As editors do: the file is replaced.
  writeFileSync(join(folder.path, 'new'), text);
  renameSync(join(folder.path, 'new'), join(folder.path, 'hosts'));
};

describe('a name', () => {
  it('has the addresses of both families, IPv4 first', async () => {
    await start(() => ['2606:4700::1111', '192.0.2.1', '192.0.2.2']);
    expect(await lookup('shop.example.com')).toEqual([
      { address: '192.0.2.1', family: 4 },
      { address: '192.0.2.2', family: 4 },
      { address: '2606:4700::1111', family: 6 },
    ]);
  });

  it.each([
    ['IPv4', ['192.0.2.1']],
    ['IPv6', ['2606:4700::1111']],
  ])('may have addresses of %s alone', async (_, answer) => {
    await start(() => answer);
    expect(await addresses('shop.example.com')).toEqual(answer);
  });

  it('may be an alias', async () => {
    await start(() => ['lb.example.net', '192.0.2.1']);
    expect(await addresses('shop.example.com')).toEqual(['192.0.2.1']);
  });

  it('is resolved as written, without search domains', async () => {
    await start(() => 'absent');
    writeFileSync(join(folder.path, 'resolv.conf'), 'search example.com\noptions ndots:5\n');
    expect(await codeOf('intranet')).toBe('ENOTFOUND');
    expect(new Set(server.queries.map(({ name }) => name))).toEqual(new Set(['intranet']));
  });

  it('has at most one address more than the connector accepts', async () => {
    await start(({ family }) => (family === 4 ? Array.from({ length: 25 }, (_, n) => `192.0.2.${n}`) : []));
    expect(await addresses('few.example.com')).toHaveLength(25);
    await server.close();
    resolver.close();
    const many = Array.from({ length: 20 }, (_, n) => [`192.0.2.${n}`, `2606:4700::${n + 1}`]).flat();
    await start(() => many);
    expect(await addresses('many.example.com')).toHaveLength(33);
  });

  it.each<[string, NameAnswer, string]>([
    ['does not exist', 'absent', 'ENOTFOUND'],
    ['has no address', [], 'ENOTFOUND'],
    ['has failing name servers', 'failing', 'EAI_AGAIN'],
    ['has silent name servers', 'silent', 'EAI_AGAIN'],
  ])('that %s is an error of name resolution', async (_, answer, code) => {
    await start(() => answer, { limitMs: answer === 'silent' ? 50 : 60_000 });
    expect(await codeOf('shop.example.com')).toBe(code);
  });

  it.each<[string, NameAnswer]>([
    ['fail', 'failing'],
    ['do not respond', 'silent'],
  ])('has its other addresses if its name servers %s for one family', async (_, answer) => {
    await start(({ family }) => (family === 4 ? ['192.0.2.1'] : answer));
    expect(await addresses('shop.example.com')).toEqual(['192.0.2.1']);
  });
});

describe('the cache', () => {
  const asked = async (name: string) => {
    const before = server.queries.length;
    await lookup(name).catch(() => undefined);
    return server.queries.length > before;
  };

  it.each([
    ['their TTL', 60, 60_000],
    ['at least 1 s', 0, 1_000],
    ['at most 5 min', 86_400, 300_000],
  ])('keeps addresses for %s', async (_, ttl, ms) => {
    await start(() => ['192.0.2.1'], {}, ttl);
    expect(await asked('shop.example.com')).toBe(true);
    now = ms - 1;
    expect(await asked('SHOP.example.com')).toBe(false);
    now = ms;
    expect(await asked('shop.example.com')).toBe(true);
  });

  it('keeps the addresses of a name that has hundreds', async () => {
    await start(({ family }) =>
      family === 4 ? Array.from({ length: 300 }, (_, n) => `192.0.${n >> 8}.${n & 255}`) : [],
    );
    expect(await asked('shop.example.com')).toBe(true);
    now = 59_999;
    expect(await asked('shop.example.com')).toBe(false);
    now = 60_000;
    expect(await asked('shop.example.com')).toBe(true);
  });

  it('keeps the absence of a name for 2 s, and no failure', async () => {
    await start(({ name }) => (name.startsWith('absent') ? 'absent' : 'failing'));
    expect([await asked('absent.example.com'), await asked('absent.example.com')]).toEqual([true, false]);
    expect([await asked('failing.example.com'), await asked('failing.example.com')]).toEqual([true, true]);
    now = 2_000;
    expect(await asked('absent.example.com')).toBe(true);
  });

  it('shares the queries of concurrent lookups', async () => {
    await start(() => ['192.0.2.1']);
    await Promise.all(Array.from({ length: 10 }, () => lookup('shop.example.com')));
    expect(server.queries).toHaveLength(2);
  });
});

describe('the hosts file', () => {
  it('has precedence over name servers, and is read again when it changes', async () => {
    writeHosts('# local\n192.0.2.9\tshop.example.com  Alias.example.com # ours\n::1 shop.example.com\nnonsense a b\n');
    await start(() => ['192.0.2.1']);
    expect(await addresses('shop.example.com')).toEqual(['192.0.2.9', '::1']);
    expect(await addresses('alias.example.com')).toEqual(['192.0.2.9']);
    expect(await addresses('other.example.com')).toEqual(['192.0.2.1']);
    writeHosts('192.0.2.10 shop.example.com\n');
    now = 1_000;
    expect(await addresses('shop.example.com')).toEqual(['192.0.2.10']);
    expect(await addresses('alias.example.com')).toEqual(['192.0.2.1']);
  });
});

describe('slow name servers', () => {
  /** The kernel drops packets of a larger burst. */
  const BURST = 25;
  const lookupAll = async (names: readonly string[], accountId: number) => {
    const found: Promise<LookupAddress[]>[] = [];
    for (const [n, name] of names.entries()) {
      found.push(lookup(name, accountId));
      if (n % BURST === 0) await nextTick();
    }
    return found;
  };
  const named = (count: number, prefix: string) => Array.from({ length: count }, (_, n) => `${prefix}${n}.example.com`);

  it('delay only their own names: 200 of them do not delay another account’s name', async () => {
    await start(({ name }) => (name.startsWith('dead') ? 'silent' : ['192.0.2.1']), { limitMs: 2_000 });
    const dead = await lookupAll(named(200, 'dead'), 1);
    const failed = Promise.allSettled(dead);
    expect(await addresses('shop.example.com')).toEqual(['192.0.2.1']);
    expect(await Promise.race([failed, 'still waiting'])).toBe('still waiting');
    expect((await failed).every(({ status }) => status === 'rejected')).toBe(true);
  });

  it('of 1,050 names are all queried before any responds', async () => {
    const asked = new Set<string>();
    const names = named(1_050, 'shop');
    let respond: (answer: NameAnswer) => void = () => undefined;
    const allAsked = new Promise<NameAnswer>((resolve) => {
      respond = resolve;
    });
    await start(({ name }) => {
      asked.add(name);
      if (asked.size === names.length) respond(['192.0.2.1']);
      return allAsked;
    });
    const found = await Promise.all(await lookupAll(names, 1));
    expect(new Set(found.map(([first]) => first?.address))).toEqual(new Set(['192.0.2.1']));
  });
});

describe('names that only the system has', () => {
  it('are looked up by the system if name servers have none, and cached for 2 s', async () => {
    const lookups: string[] = [];
    const system = new SystemLookups((name, _, callback) => {
      lookups.push(name);
      if (name === 'printer.local') callback(null, [{ address: '192.0.2.7', family: 4 }]);
      else callback(Object.assign(new Error(), { code: 'ENOTFOUND' }), []);
    });
    await start(({ name }) => (name.endsWith('failing') ? 'failing' : 'absent'), { system });
    expect([await addresses('printer.local'), await addresses('printer.local')]).toEqual([
      ['192.0.2.7'],
      ['192.0.2.7'],
    ]);
    expect([await codeOf('nothing.local'), await codeOf('failing')]).toEqual(['ENOTFOUND', 'EAI_AGAIN']);
    expect(lookups).toEqual(['printer.local', 'nothing.local', 'failing']);
  });

  it('are looked up two at a time, and one of each account, in turn by account', async () => {
    await start(() => 'absent');
    const running: [string, () => void][] = [];
    const system = new SystemLookups((name, _, callback) => void running.push([name, () => callback(null, [])]));
    const end = async (name: string) => {
      const [ended] = running.splice(
        running.findIndex(([one]) => one === name),
        1,
      );
      ended?.[1]();
      await nextTick();
    };
    const names = () => running.map(([name]) => name);
    for (const name of ['a1', 'a2', 'a3']) void system.find(name, 1, 60_000);
    expect(names()).toEqual(['a1']);
    for (const name of ['b1', 'b2']) void system.find(name, 2, 60_000);
    void system.find('c1', 3, 60_000);
    expect(names()).toEqual(['a1', 'b1']);
    await end('a1');
    expect(names()).toEqual(['b1', 'a2']);
    await end('b1');
    expect(names()).toEqual(['a2', 'b2']);
    await end('a2');
    expect(names()).toEqual(['b2', 'c1']);
    await end('b2');
    expect(names()).toEqual(['c1', 'a3']);
    await end('c1');
    await end('a3');
    expect(names()).toEqual([]);
  });

  it('are not waited for beyond the limit of a lookup, however many slow names of others are looked up', async () => {
    let isHealthy = false;
    const started: string[] = [];
    const system = new SystemLookups((name) => void started.push(name));
    await start(() => (isHealthy ? ['192.0.2.1'] : 'failing'), { system, limitMs: 100 });
    for (const accountId of [1, 2]) void system.find(`slow-${accountId}`, accountId, 60_000).catch(() => undefined);
    expect(await codeOf('shop.example.com')).toBe('EAI_AGAIN');
    isHealthy = true;
    expect(await addresses('shop.example.com')).toEqual(['192.0.2.1']);
    expect(started).toEqual(['slow-1', 'slow-2']);
  });
});
