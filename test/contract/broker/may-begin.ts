import { type BrokerCase, brokerCase, type Handle, named, texts } from './inbox.js';

export const mayBegin: BrokerCase[] = [
  brokerCase('while mayBegin says no, no further record is begun; then the others are, in order', async (s) => {
    let [begun, most] = [0, 3];
    await s.publish(named(10));
    const handle: Handle = () => {
      begun += 1;
    };
    const { inbox } = await s.consume({ mayBegin: () => begun < most, handle });
    await s.soon('records were not handed out', () => inbox.done.length === 3);
    await s.witness(10);
    expect(begun).toBe(3);
    // Nothing is in hand that could be done, and nothing is published: it has to be asked again.
    most = 10;
    await s.soon('the others were not handed out', () => inbox.done.length === 10);
    expect(texts(inbox.calls)).toEqual(named(10));
  }),
  brokerCase('a rejected record comes again while mayBegin says no', async (s) => {
    let begun = 0;
    await s.publish(named(2));
    const handle: Handle = (_, call) => {
      begun += 1;
      if (call < 3) throw new Error('not now');
    };
    const { inbox } = await s.consume({ mayBegin: () => begun === 0, handle });
    await s.soon('the rejected was not handed out again', () => inbox.done.length === 1);
    expect(texts(inbox.calls)).toEqual(['0', '0', '0']);
  }),
];
