import { createHash } from 'node:crypto'
import { isIP } from 'node:net'
import { boolean, DerReader, der, integer, namedBits, octetString, oid, readBitString, sequence, tags } from '@krmkit/base/der'
import { newPrivateKey, privateKeyPem, publicKeyOf } from '../private-key.ts'
import { noAlternativeNames, writeAlternativeNames } from '../request/alternative-names.ts'
import { writeDistinguishedName } from '../request/distinguished-name.ts'
import { type Extension, extensionOids } from '../request/extensions.ts'
import { keyUsagesOf } from '../request/usages.ts'
import { type Validity, writeCertificate } from '../request/write-certificate.ts'
import { parseSigningAuthority } from './signing-authority.ts'

/** A certificate and its private key (PKCS#8), both PEM. */
export interface KeyPair {
  readonly certificate: string
  readonly key: string
}

export interface SelfSignedOptions extends Validity {
  readonly commonName: string
}

/** Issues a self-signed CA certificate with a new ECDSA P-256 key and path length 0. */
export function issueAuthority(options: SelfSignedOptions): KeyPair {
  const key = newPrivateKey()
  const publicKey = publicKeyOf(key)
  const subject = writeDistinguishedName(options)
  const usage = keyUsagesOf(['digital signature', 'cert sign', 'crl sign'])
  const extensions: Extension[] = [
    { oid: extensionOids.basicConstraints, critical: true, value: sequence(boolean(true), integer(0)) },
    { oid: extensionOids.keyUsage, critical: true, value: namedBits(usage.bits) },
    { oid: extensionOids.subjectKeyIdentifier, critical: false, value: octetString(keyIdentifierOf(publicKey)) },
  ]
  return {
    certificate: writeCertificate(key, { ...options, issuer: subject, subject, publicKey, extensions }),
    key: privateKeyPem(key),
  }
}

/**
 * Issues a serving certificate for `hosts` (DNS names and IP addresses), signed by `authority`.
 *
 * @throws CertificateError `Malformed`, `UnusableAuthority`
 */
export function issueServing(authority: KeyPair, options: SelfSignedOptions & { readonly hosts: readonly string[] }): KeyPair {
  const { key: signingKey, info, keyIdentifier } = parseSigningAuthority(authority)
  const key = newPrivateKey()
  const publicKey = publicKeyOf(key)
  const { hosts } = options
  const usage = keyUsagesOf(['digital signature', 'server auth'])
  const names = {
    ...noAlternativeNames,
    dns: hosts.filter((host) => isIP(host) === 0),
    ips: hosts.filter((host) => isIP(host) !== 0),
  }
  const issuerIdentifier = keyIdentifier ?? keyIdentifierOf(info.publicKey.spki)
  const extensions: Extension[] = [
    { oid: extensionOids.basicConstraints, critical: true, value: sequence() },
    { oid: extensionOids.keyUsage, critical: true, value: namedBits(usage.bits) },
    { oid: extensionOids.extendedKeyUsage, critical: false, value: sequence(...usage.purposes.map(oid)) },
    { oid: extensionOids.subjectAlternativeName, critical: false, value: writeAlternativeNames(names) },
    { oid: extensionOids.authorityKeyIdentifier, critical: false, value: sequence(der(0x80, issuerIdentifier)) },
  ]
  const subject = writeDistinguishedName(options)
  return {
    certificate: writeCertificate(signingKey, { ...options, issuer: info.subjectDer, subject, publicKey, extensions }),
    key: privateKeyPem(key),
  }
}

/** Computes the key identifier: SHA-1 of the bits of the public key. @see RFC 5280, 4.2.1.2 */
function keyIdentifierOf(spki: Uint8Array): Uint8Array {
  const info = new DerReader(spki, 'public key').into(tags.sequence)
  info.next(tags.sequence)
  return createHash('sha1')
    .update(readBitString(info.next(tags.bitString), 'public key'))
    .digest()
}
