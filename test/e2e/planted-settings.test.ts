/** Settings that are wrong and hold secrets: the start ends with a line that names the setting and shows nothing of it. */
import { type Backbone, describeBackbones, ENDS } from '../support/backbones.js';
import { commandLine } from '../support/in-process-cli.js';
import { leaks, PlantedInstallation } from '../support/planted-installation.js';
import { PlantedSecrets } from '../support/planted-secrets.js';
import { securedBackbone } from '../support/secured-backbone.js';
import { run, type Settings } from '../support/service.js';
import { inFull } from '../support/thorough.js';

/** What Node itself says would come from a process only. */
const by = inFull(run, commandLine);
const secrets = new PlantedSecrets();
const secured = securedBackbone(secrets);
const [embedded] = ENDS as readonly [Backbone, Backbone];

type Wrong = readonly [names: string, change: (secret: string, right: Settings) => Settings];

/** test/settings has the others, whose values are wrong by themselves. */
const WRONG: readonly Wrong[] = [
  ['MASTER_KEY', (secret) => ({ MASTER_KEY: secret })],
  ['EVENT_STORE_URL', (secret) => ({ EVENT_STORE_URL: `esdb://user:${secret}%@localhost:1:1` })],
  ['KAFKA_SASL', (secret) => ({ BROKER_URL: 'kafka://localhost:1', KAFKA_SASL_PASSWORD: secret })],
  ['DELIVERY_CLIENT_KEY_FILE', (_, right) => ({ DELIVERY_CLIENT_KEY_FILE: right.DELIVERY_CA_FILE ?? '' })],
  [
    'DELIVERY_CLIENT_CERT_FILE',
    (_, { DELIVERY_CLIENT_KEY_FILE = '' }) => ({
      DELIVERY_CLIENT_CERT_FILE: DELIVERY_CLIENT_KEY_FILE,
    }),
  ],
];

/** Those that servers refuse. */
const REFUSED: readonly Wrong[] = [
  [
    'EVENT_STORE_URL',
    (secret, { EVENT_STORE_URL = '' }) => ({
      EVENT_STORE_URL: EVENT_STORE_URL.replace(/:[^:]*@/, `:${secret}@`),
    }),
  ],
  ['KAFKA_SASL_PASSWORD', (secret) => ({ KAFKA_SASL_PASSWORD: secret })],
];

describeBackbones(
  (backbone) => {
    let planted: PlantedInstallation;
    beforeAll(async () => {
      planted = await PlantedInstallation.open(secrets, backbone, [443]);
    });
    afterAll(() => planted?.remove());

    test.each(backbone === embedded ? WRONG : REFUSED)('%s', async (name, change) => {
      const before = planted.said.length;
      const more = change(secrets.plant(`a wrong ${name}`), planted.settings);
      const { code, stderr } = await planted.command(['serve'], { more, by });
      expect(code).toBe(1);
      expect(stderr.split('\n').at(-2)).toMatch(new RegExp(`^account-webhooks: .*${name}`));
      expect(leaks(secrets, planted.said.slice(before))).toEqual([]);
    });
  },
  inFull([embedded, secured], [embedded]),
);
