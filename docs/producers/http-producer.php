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

// Valid for an hour by default: keep it until then.
function token(): string
{
    $basic = base64_encode(getenv('CLIENT_ID') . ':' . getenv('CLIENT_SECRET'));
    [$status, $answer] = post('/oauth/token', ["Authorization: Basic $basic"], 'grant_type=client_credentials');
    if ($status !== 200) {
        throw new RuntimeException("no token: $answer");
    }
    return json_decode($answer)->access_token;
}

$event = json_encode([
    'id' => $argv[1],
    'type' => 'cash_in',
    'accountId' => 42,
    'timestamp' => '2026-11-21T09:00:00Z',
    'data' => ['amount' => '10.00'], // amounts as text: a float loses digits
]);
$headers = ['Authorization: Bearer ' . token(), 'Content-Type: application/json'];
do {
    [$status, $answer, $retryAfter] = post('/api/payment-events', $headers, $event);
    // 0: no answer. The event may be published; receivers drop the duplicate by its webhook-id.
} while (($status === 503 || $status === 0) && sleep($retryAfter) === 0);
if ($status !== 202) {
    throw new RuntimeException("not published: $answer"); // a 400 names what is wrong
}
echo "$answer\n";
