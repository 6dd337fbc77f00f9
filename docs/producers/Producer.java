import java.nio.charset.StandardCharsets;
import java.util.Map;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.StringSerializer;

public class Producer {
  public static void main(String[] args) throws Exception {
    Map<String, Object> settings = Map.of(
        "bootstrap.servers", System.getenv("BROKERS"),
        "compression.type", System.getenv("CODEC"), // none, gzip, snappy, lz4 or zstd
        "acks", "all", // durable on every replica in sync
        "enable.idempotence", true); // a retry of the client makes no second record
    String id = args[0];
    String event = """
        {"id":"%s","type":"cash_in","accountId":42,"timestamp":"2026-11-21T09:00:00Z","data":{"amount":"10.00"}}"""
        .formatted(id);
    try (var producer = new KafkaProducer<>(settings, new StringSerializer(), new StringSerializer())) {
      var record = new ProducerRecord<>(System.getenv("TOPIC"), "42", event); // the key: the accountId
      record.headers().add("x-correlation-id", id.getBytes(StandardCharsets.UTF_8)); // optional
      // get() throws where the record may not be durable: publish the event again, with the same id.
      System.out.println(producer.send(record).get());
    }
  }
}
