#!/usr/bin/env bash
# Makes the certificates of this folder anew (OpenSSL 3). Keys are thrown away: the tests only read certificates.
set -euo pipefail
cd "$(dirname "$0")"
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
days=36500

authority() { # name subject [issuer]
  openssl ecparam -name prime256v1 -genkey -noout -out "$tmp/$1.key"
  openssl req -new -key "$tmp/$1.key" -subj "$2" -out "$tmp/$1.csr"
  printf 'basicConstraints=critical,CA:TRUE\nkeyUsage=critical,keyCertSign\nsubjectKeyIdentifier=hash\n' > "$tmp/ca.ext"
  if [ $# -gt 2 ]; then sign "$1" "$3" "$tmp/ca.ext"; else
    openssl x509 -req -in "$tmp/$1.csr" -signkey "$tmp/$1.key" -days $days -extfile "$tmp/ca.ext" -out "$1.crt"
  fi
}
sign() { # name issuer extensions
  openssl x509 -req -in "$tmp/$1.csr" -CA "$2.crt" -CAkey "$tmp/$2.key" -CAcreateserial -CAserial "$tmp/serial" -days $days -extfile "$3" -out "$1.crt"
}
leaf() { # name subject issuer usage
  openssl ecparam -name prime256v1 -genkey -noout -out "$tmp/$1.key"
  openssl req -new -utf8 -key "$tmp/$1.key" -subj "$2" -out "$tmp/$1.csr"
  printf 'extendedKeyUsage=%s\n' "$4" > "$tmp/leaf.ext"
  sign "$1" "$3" "$tmp/leaf.ext"
}

authority ca '/CN=test authority'
authority intermediate '/CN=test intermediate' ca
authority other-ca '/CN=other authority'
leaf admin '/O=system:masters/O=dev/CN=admin' ca clientAuth
leaf odd-name '/O=a\+b,c\/d/CN=grün, "x"' ca clientAuth
leaf by-intermediate '/O=ops/CN=carol' intermediate clientAuth
leaf by-leaf '/CN=mallory' admin clientAuth
leaf by-other '/CN=eve' other-ca clientAuth
leaf serving '/CN=server' ca serverAuth
leaf nameless '/O=ops' ca clientAuth
