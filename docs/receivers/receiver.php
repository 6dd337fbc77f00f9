<?php

$secret = base64_decode(substr(getenv('WEBHOOK_SECRET'), strlen('whsec_')));
$body = file_get_contents('php://input'); // the bytes as they came: JSON that was parsed and written again is not signed
$id = $_SERVER['HTTP_WEBHOOK_ID'] ?? '';
$timestamp = $_SERVER['HTTP_WEBHOOK_TIMESTAMP'] ?? '';
$expected = 'v1,' . base64_encode(hash_hmac('sha256', "$id.$timestamp.$body", $secret, true));

$isSigned = false;
foreach (explode(' ', $_SERVER['HTTP_WEBHOOK_SIGNATURE'] ?? '') as $signature) { // two during a rotation
    $isSigned = hash_equals($expected, $signature) || $isSigned;
}
if (!$isSigned || abs(time() - (int) $timestamp) > 300) {
    http_response_code(401);
    exit;
}
$seen = sys_get_temp_dir() . '/webhook-' . hash('sha256', $id); // on several hosts: a unique key in your database
if (@fopen($seen, 'x')) {
    file_put_contents('php://stdout', "$id $body\n"); // keep it, and work on it after the answer
}
http_response_code(204);
