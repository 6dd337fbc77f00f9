<?php
function post(string $path, array $headers, string $body): array
{
    $request = curl_init(getenv('SERVICE') . $path);
    $retryAfter = 1;
    curl_setopt_array($request, [
        CURLOPT_POST => true,
        CURLOPT_POSTFIELDS => $body,
        CURLOPT_HTTPHEADER => $headers,
        CURLOPT_RETURNTRANSFER => true,
        CURLOPT_HEADERFUNCTION => function ($_, string $line) use (&$retryAfter): int {
            if (stripos($line, 'retry-after:') === 0) {
                $retryAfter = (int) substr($line, 12);
            }
            return strlen($line);
        },
    ]);
    $answer = curl_exec($request);
    return [curl_getinfo($request, CURLINFO_RESPONSE_CODE), (string) $answer, $retryAfter];
}

// A token is valid for an hour by default: keep it until then.
function publish(string $event): array
{
    $basic = base64_encode(getenv('CLIENT_ID') . ':' . getenv('CLIENT_SECRET'));
    $answer = post('/oauth/token', ["Authorization: Basic $basic"], 'grant_type=client_credentials');
    if ($answer[0] !== 200) {
        return $answer;
    }
    $headers = ['Authorization: Bearer ' . json_decode($answer[1])->access_token, 'Content-Type: application/json'];
    return post('/api/payment-events', $headers, $event);
}

$event = json_encode([
    'id' => $argv[1],
    'type' => 'cash_in',
    'accountId' => 42,
    'timestamp' => '2026-11-21T09:00:00Z',
    'data' => ['amount' => '10.00'], // amounts as text: a float loses digits
]);
do {
    [$status, $answer, $retryAfter] = publish($event);
    // 0: no answer. The event may be published; receivers drop the duplicate by its webhook-id.
} while (($status >= 500 || $status === 429 || $status === 0) && sleep($retryAfter) === 0);
if ($status !== 202) {
    throw new RuntimeException("not published: $answer"); // a 400 names what is wrong
}
echo "$answer\n";
