/** Preloaded into a service under test: it queries the name server of the benchmark instead of those of resolv.conf. */
import { createRequire, syncBuiltinESMExports } from 'node:module';

const dns = createRequire(import.meta.url)('node:dns/promises');
const { Resolver } = dns;

dns.Resolver = class extends Resolver {
  constructor(options) {
    super(options);
    this.setServers([process.env.BENCH_NAME_SERVER]);
  }
};
syncBuiltinESMExports();
