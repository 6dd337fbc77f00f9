<?php
// Without a library: the check needs five lines. PHP has no HTTP server of its own for production: run it by FPM or Apache.
$secret = base64_decode(substr(getenv('WEBHOOK_SECRET'), strlen('whsec_')));
$seen = sys_get_temp_dir() . '/seen-'; // better: a unique key in your database

$body = file_get_contents('php://input'); // the bytes as they came: JSON that was parsed and written again is not signed
$id = $_SERVER['HTTP_WEBHOOK_ID'] ?? '';
$timestamp = $_SERVER['HTTP_WEBHOOK_TIMESTAMP'] ?? '';
$expected = 'v1,' . base64_encode(hash_hmac('sha256', "$id.$timestamp.$body", $secret, true));

$isValid = false;
foreach (explode(' ', $_SERVER['HTTP_WEBHOOK_SIGNATURE'] ?? '') as $signature) { // several during a rotation
    $isValid = hash_equals($expected, $signature) || $isValid;
}
if (!$isValid || abs(time() - (int) $timestamp) > 300) {
    http_response_code(401);
    exit;
}
$mark = @fopen($seen . hash('sha256', $id), 'x');
if ($mark) {
    file_put_contents('php://stdout', "$id $body\n"); // keep it, and work on it after the answer
}
http_response_code(204);
