import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.Base64;

public class HttpProducer {
  static final HttpClient CLIENT = HttpClient.newHttpClient();

  static HttpResponse<String> post(String path, String authorization, String type, String body) throws Exception {
    var request = HttpRequest.newBuilder(URI.create(System.getenv("SERVICE") + path))
        .header("authorization", authorization)
        .header("content-type", type)
        .POST(BodyPublishers.ofString(body))
        .build();
    return CLIENT.send(request, BodyHandlers.ofString());
  }

  /** A token is valid for an hour by default: keep it until then. */
  static HttpResponse<String> publish(String event) throws Exception {
    var client = System.getenv("CLIENT_ID") + ":" + System.getenv("CLIENT_SECRET");
    var basic = "Basic " + Base64.getEncoder().encodeToString(client.getBytes());
    var answer = post("/oauth/token", basic, "application/x-www-form-urlencoded", "grant_type=client_credentials");
    if (answer.statusCode() != 200) return answer;
    var token = answer.body().replaceFirst(".*\"access_token\":\"([^\"]*)\".*", "$1");
    return post("/api/payment-events", "Bearer " + token, "application/json", event);
  }

  public static void main(String[] args) throws Exception {
    String event = """
        {"id":"%s","type":"cash_in","accountId":42,"timestamp":"2026-11-21T09:00:00Z","data":{"amount":"10.00"}}"""
        .formatted(args[0]);
    while (true) {
      var answer = publish(event);
      int status = answer.statusCode();
      if (status == 202) {
        System.out.println(answer.body());
        return;
      }
      // A 400 names what is wrong. After a 5xx send it again: receivers drop duplicates by their webhook-id.
      if (status < 500 && status != 429) throw new IllegalStateException("not published: " + answer.body());
      Thread.sleep(1000 * answer.headers().firstValueAsLong("retry-after").orElse(5));
    }
  }
}
