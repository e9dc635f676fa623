#!/usr/bin/env bash
# Makes the certificates of this folder anew (OpenSSL 3). Their keys stay: the tests show certificates to servers.
set -euo pipefail
cd "$(dirname "$0")"
for name in one two; do
  openssl ecparam -name prime256v1 -genkey -noout | openssl pkcs8 -topk8 -nocrypt -out "$name.key"
  openssl req -x509 -new -key "$name.key" -subj "/CN=$name" -days 36500 -addext 'subjectAltName=IP:127.0.0.1' -out "$name.crt"
done
