import { KAFKA, kafkaBroker, withKafka } from '../support/scenes/kafka-subjects.js';
import { cases } from './broker-contract.js';
import { describeContract } from './contract.js';

withKafka((brokers) => describeContract('the broker on Kafka', kafkaBroker(brokers), KAFKA, cases));
