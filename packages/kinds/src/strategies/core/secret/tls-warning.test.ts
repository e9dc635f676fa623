import { describe, expect, it } from 'vitest'
import { tlsWarning } from './tls-warning.ts'

const block = (label: string) => `-----BEGIN ${label}-----\nYQ==\n-----END ${label}-----\n`

describe('tlsWarning', () => {
  it.each([
    ['', '', 'tls: failed to find any PEM data in certificate input'],
    [
      block('RSA PRIVATE KEY'),
      '',
      'tls: failed to find certificate PEM data in certificate input, but did find a private key; PEM inputs may have been switched',
    ],
    [
      block('A') + block('B'),
      '',
      'tls: failed to find "CERTIFICATE" PEM block in certificate input after skipping PEM blocks of the following types: [A B]',
    ],
    [block('CERTIFICATE'), 'x', 'tls: failed to find any PEM data in key input'],
    [block('CERTIFICATE'), block('CERTIFICATE'), 'tls: found a certificate rather than a key in the PEM for the private key'],
    [
      block('CERTIFICATE'),
      block('A') + block('B'),
      'tls: failed to find PEM block with type ending in "PRIVATE KEY" in key input after skipping PEM blocks of the following types: [A B]',
    ],
    [`text\n${block('CERTIFICATE').replace('YQ==', 'MAIwAA==')}`, block('EC PARAMETERS') + block('EC PRIVATE KEY'), undefined],
    [block('CERTIFICATE'), block('PRIVATE KEY'), 'x509: malformed certificate'],
    [block('CERTIFICATE').replace('YQ==', ''), block('PRIVATE KEY'), 'x509: malformed certificate'],
    [block('CERTIFICATE').replace('YQ==', 'PHBsYWNlaG9sZGVyPg=='), block('PRIVATE KEY'), 'x509: malformed certificate'],
    [block('CERTIFICATE').replace('YQ==', '%%'), block('PRIVATE KEY'), 'tls: failed to find any PEM data in certificate input'],
    [block('CERTIFICATE').replace('YQ==', 'MIIBIjAN'), block('PRIVATE KEY'), 'x509: malformed certificate'],
    [block('CERTIFICATE').replace('YQ==', 'MAMCAQA='), block('PRIVATE KEY'), 'x509: malformed tbs certificate'],
  ])('warns of certificates and keys that are no PEM data: %j, %j', (certificate, key, warning) => {
    expect(tlsWarning(certificate, key)).toBe(warning)
  })
})
