/** Loaded into a process before its own code (NODE_OPTIONS): its Date is CLOCK_BEHIND_MS behind. Certificates are valid still. */
const behind = Number(process.env.CLOCK_BEHIND_MS);
const Clock = Date;

globalThis.Date = class extends Clock {
  constructor(...given) {
    if (given.length === 0) super(Clock.now() - behind);
    else super(...given);
  }

  static now() {
    return Clock.now() - behind;
  }
};
