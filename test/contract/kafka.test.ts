import { KAFKA, kafkaBroker, withKafka } from '../support/kafka-subjects.js';
import { inFull } from '../support/thorough.js';
import { cases } from './broker-contract.js';
import { describeContract } from './contract.js';

/** Its 22 batches unpack to 32 MiB each, which is a quarter of this file's time. */
const isCostly = (name: string) => name.startsWith('after 20 unreadable batches');
const quick = cases.filter(({ name }) => !isCostly(name));

withKafka((brokers) => describeContract('the broker on Kafka', kafkaBroker(brokers), KAFKA, inFull(cases, quick)));
