/** Where a consumer begins in a partition that it is assigned, and where it goes on as another member. */
import { BrokerRefused } from '../../../src/ports/broker.js';
import { eventually } from '../../support/clocks/eventually.js';
import { ConsumerScene } from '../../support/scenes/consumer-scene.js';

let scene: ConsumerScene;
beforeEach(async () => {
  scene = await ConsumerScene.begin();
});
afterEach(() => scene.consumer.close());

describe('a partition that was assigned', () => {
  it('is not fetched before its place is known, and then from there', async () => {
    await scene.joined();
    expect(scene.client.calls).toEqual(['pause t', 'seek t 5', 'resume t']);
  });

  it('is fetched again from its place if a batch begins behind that: no record is passed over', async () => {
    await scene.joined();
    await scene.client.fetched('t', 8, 9);
    expect(scene.client.calls.slice(3)).toEqual(['seek t 5']);
    await scene.client.fetched('t', 5, 9);
    await eventually(() => scene.handled.length === 5);
  });

  it('is opened though the place of another is not known; that is asked for again', async () => {
    scene.starts.delete('t');
    await scene.client.join({ t: [0], u: [0] });
    await scene.called('seek u 0');
    expect(scene.client.calls).not.toContain('seek t 5');
    scene.starts.set('t', 5);
    await scene.called('seek t 5');
    expect(scene.asked).toEqual([['t', 'u'], ['t']]);
  });

  it('is opened while a partition of another topic has no leader', async () => {
    scene.leaderless.add('u');
    await scene.client.join({ t: [0], u: [0] });
    await scene.called('seek t 5');
    expect(scene.client.calls).not.toContain('seek u 0');
    const unreadable = () => scene.consumer.state().partitions.filter((one) => one.unreadable);
    expect(unreadable()).toMatchObject([{ topic: 'u', unreadable: { reason: 'no leader' } }]);
    scene.leaderless.clear();
    await scene.called('seek u 0');
    expect(unreadable()).toEqual([]);
  });

  it('is not told of where another member got it before Kafka answered', async () => {
    scene.leaderless.add('u');
    let answer = () => {};
    scene.answers = new Promise((fulfil) => {
      answer = fulfil;
    });
    await scene.client.join({ t: [0], u: [0] });
    await scene.client.join({ t: [0] });
    answer();
    await scene.called('seek t 5');
    expect(scene.consumer.state().partitions.map(({ topic }) => topic)).toEqual(['t']);
  });
});

describe('a partition whose group has no offset in it', () => {
  beforeEach(() => {
    scene.committed.t = { committed: null };
  });

  it('is fetched from its start, which is committed though no record is done', async () => {
    await scene.client.join({ t: [0], u: [0] });
    await eventually(() => scene.offsets.flat().includes('t 5'));
    expect(scene.client.calls).toContain('seek t 5');
  });

  it('ends the consumer where a permission for that is missing', async () => {
    scene.answers = Promise.reject(new BrokerRefused('no right to read'));
    await scene.client.join({ t: [0] });
    await expect(scene.consumer.closed).rejects.toThrow('no right to read');
  });
});

describe('a member with a new id, which was thought dead', () => {
  const rejoined = async (start: number) => {
    scene.client.commit = () => Promise.reject(new Error('Kafka is away'));
    await scene.joined();
    await scene.client.fetched('t', 5, 9);
    await eventually(() => scene.handled.length === 5 && scene.client.commits.length > 0);
    scene.client.commits.length = scene.client.calls.length = 0;
    scene.starts.set('t', start);
    await scene.client.join({ t: [0] }, 'another-member');
    scene.client.commit = async () => undefined;
    await eventually(() => scene.client.calls.at(-1) === 'resume t' && scene.client.calls.includes('pause t'));
  };

  it.each([5, 7, 10])(
    'goes on where it was, though the group stands at %d: what is done is not handed out',
    async (start) => {
      await rejoined(start);
      expect(scene.client.calls).toContain('seek t 10');
      await scene.client.fetched('t', 8, 11);
      await eventually(() => scene.offsets.flat().includes('t 12'));
      expect(scene.handled.map(({ offset }) => offset)).toEqual([5, 6, 7, 8, 9, 10, 11]);
    },
  );

  it.each([
    ['others were further', 11],
    ['the group was set back', 3],
    ['the topic may be another one of that name', 0],
  ])('goes to where the group stands where %s', async (_, start) => {
    await rejoined(start);
    expect(scene.client.calls).toContain(`seek t ${start}`);
    await scene.client.fetched('t', start, 12);
    await eventually(() => scene.handled.at(-1)?.offset === 12);
    expect(scene.handled[5]?.offset).toBe(start);
  });
});

describe('a member with a new id whose place is not known for a while', () => {
  it('is handed out anew what was rejected meanwhile', async () => {
    scene.rejects = ({ offset }) => offset === 6;
    await scene.joined();
    await scene.client.fetched('t', 5, 7);
    await eventually(() => scene.handled.length === 3);
    scene.starts.delete('t');
    await scene.client.join({ t: [0] }, 'another-member');
    await eventually(() => scene.asked.length > 2);
    scene.rejects = () => false;
    scene.starts.set('t', 5);
    await eventually(() => scene.seeks.length === 2);
    await scene.client.fetched('t', 5, 7);
    await eventually(() => scene.offsets.at(-1)?.includes('t 8'));
    expect(scene.handled.filter(({ offset }) => offset === 6)).toHaveLength(2);
  });
});

it('a member that joins again is handed nothing that was answered about its place before', async () => {
  let answer: () => void = () => undefined;
  await scene.client.join({ t: [0] });
  await eventually(() => scene.seeks.length === 1);
  scene.answers = new Promise((resolve) => {
    answer = resolve;
  });
  await scene.client.join({ t: [0] }, 'another-member');
  await scene.client.beginJoin();
  answer();
  await scene.answers;
  await new Promise((resolve) => setImmediate(resolve));
  expect(scene.seeks).toHaveLength(1);
  await scene.client.join({ t: [0] }, 'another-member');
  await eventually(() => scene.seeks.length === 2);
});

it('a member that loses a partition whose place is not known yet is handed records of what it keeps', async () => {
  await scene.client.join({ t: [0], u: [0] });
  await scene.called('seek u 0');
  scene.starts.delete('t');
  await scene.client.join({ t: [0], u: [0] }, 'another-member');
  await scene.client.join({ u: [0] }, 'another-member');
  await eventually(() => scene.client.calls.filter((call) => call === 'seek u 0').length > 1);
  await scene.client.fetched('u', 0, 1);
  await eventually(() => scene.handled.length === 2);
});
