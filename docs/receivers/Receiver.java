import com.standardwebhooks.Webhook;
import com.standardwebhooks.exceptions.WebhookVerificationException;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.PrintStream;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

public class Receiver {
  private static final Webhook WEBHOOK = new Webhook(System.getenv("WEBHOOK_SECRET")); // whsec_...
  private static final PrintStream OUT = new PrintStream(System.out, true, StandardCharsets.UTF_8);
  // With several processes: a unique key in your database.
  private static final Set<String> SEEN = ConcurrentHashMap.newKeySet();

  public static void main(String[] args) throws IOException {
    int port = Integer.parseInt(System.getenv("PORT"));
    HttpServer server = HttpServer.create(new InetSocketAddress("127.0.0.1", port), 0);
    server.createContext("/", Receiver::receive);
    server.start();
  }

  private static void receive(HttpExchange exchange) throws IOException {
    // The text as it came: JSON that was parsed and written again is not signed.
    String body = new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8);
    try {
      WEBHOOK.verify(body, exchange.getRequestHeaders());
      String id = exchange.getRequestHeaders().getFirst("webhook-id");
      if (SEEN.add(id)) OUT.println(id + " " + body); // keep it, and work on it after the answer
      exchange.sendResponseHeaders(204, -1);
    } catch (WebhookVerificationException refused) {
      exchange.sendResponseHeaders(401, -1);
    }
    exchange.close();
  }
}
