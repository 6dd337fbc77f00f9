/** Defects for the simulation of resends to find: each is one that the code could have. */
import { Requests } from '../../../../src/delivery/again/requests.js';
import { RecentByAccount } from '../../../../src/delivery/recent-by-account.js';
import { BundleWriter } from '../../../../src/delivery/retry/bundle-writer.js';
import { Unpacking } from '../../../../src/delivery/retry/unpacking.js';
import type { Position } from '../../../../src/ports/broker.js';
import type { RequestedChain } from '../../../../src/ports/request-chains.js';
import { MemoryRequestChains } from '../memory-request-chains.js';
import type { PlantedInWorld } from './resend-world.js';

type LaterChain = Requests['laterChain'];

/** Stores two chains of three. */
class ForgetfulChains extends MemoryRequestChains {
  #count = 0;

  override add(chains: readonly RequestedChain[], position: Position | null): void {
    super.add(
      chains.filter(() => ++this.#count % 3 !== 0),
      position,
    );
  }
}

/** Replaces Requests.laterChain. */
function checking(check: (original: LaterChain) => LaterChain): void {
  const original = Requests.prototype.laterChain;
  jest.spyOn(Requests.prototype, 'laterChain').mockImplementation(function (this: Requests, delivery) {
    return check(original.bind(this))(delivery);
  });
}

const SENT_ANYWAY = /though the (request|cancellation) \d+ had been read$/;
const LOST = /: lost$/;

interface Defect {
  /** Undone by jest.restoreAllMocks. */
  readonly plant: () => PlantedInWorld;
  /** The violation that shows it. */
  readonly shows: RegExp;
}

export const DEFECTS: Readonly<Record<string, Defect>> = {
  'a chain is not learned': { plant: () => ({ chains: () => new ForgetfulChains() }), shows: SENT_ANYWAY },
  'requests are not read at the start': {
    plant: () => {
      jest.spyOn(Requests.prototype, 'start').mockResolvedValue();
      return {};
    },
    shows: SENT_ANYWAY,
  },
  'no check follows the wait for a slot': {
    plant: () => {
      const checked = new WeakSet<object>();
      checking((original) => (delivery) => {
        if (checked.has(delivery)) return null;
        checked.add(delivery);
        return original(delivery);
      });
      return {};
    },
    shows: SENT_ANYWAY,
  },
  'chains are compared as text': {
    plant: () => {
      checking((original) => (delivery) => {
        const last = original({ ...delivery, chain: -1 }) ?? 0;
        return String(last) > String(delivery.chain) ? last : null;
      });
      return {};
    },
    shows: SENT_ANYWAY,
  },
  'the next chain does not count as later': {
    plant: () => {
      checking((original) => (delivery) => original({ ...delivery, chain: delivery.chain + 1 }));
      return {};
    },
    shows: SENT_ANYWAY,
  },
  'a request ends its own chain': {
    plant: () => {
      checking((original) => (delivery) => original({ ...delivery, chain: delivery.chain - 1 }));
      return {};
    },
    shows: LOST,
  },
  'steps are taken twice': {
    plant: () => {
      jest.spyOn(RecentByAccount.prototype, 'has').mockReturnValue(false);
      return {};
    },
    shows: /: made twice by one dispatcher$/,
  },
  'a dispatcher that lost a record makes its attempt': {
    plant: () => ({ ignoresOwnership: true }),
    shows: /by a dispatcher that lost its record$/,
  },
  'records are committed before they are done': { plant: () => ({ commitsEarly: true }), shows: LOST },
  'a retry record is acknowledged and not stored': {
    plant: () => {
      let count = 0;
      return { losesRetryRecord: () => ++count % 5 === 0 };
    },
    shows: LOST,
  },
  'only the first delivery of a bundle is unpacked': {
    plant: () => {
      const original = Unpacking.prototype.unpack;
      jest.spyOn(Unpacking.prototype, 'unpack').mockImplementation(function (this: Unpacking, bundle, hold) {
        return original.call(this, { ...bundle, members: bundle.members.slice(0, 1) }, hold);
      });
      return {};
    },
    shows: LOST,
  },
  'a bundle has room for one delivery less than were gathered': {
    plant: () => {
      const original = BundleWriter.prototype.gather;
      const seen = new Map<string, number>();
      jest.spyOn(BundleWriter.prototype, 'gather').mockImplementation(function (this: BundleWriter, place, member) {
        const key = `${place.endpoint} ${place.wait.due}`;
        const count = (seen.get(key) ?? 0) + 1;
        seen.set(key, count);
        return count === 2 ? Promise.resolve() : original.call(this, place, member);
      });
      return {};
    },
    shows: LOST,
  },
  'the latest entry holds': {
    plant: () => ({ statusOf: (entries) => entries.at(-1)?.outcome }),
    shows: /, and not (delivered|exhausted|cancelled)$/,
  },
};
