import { createPrivateKey, X509Certificate } from 'node:crypto'
import { isIP } from 'node:net'

/** A certificate and its private key (PKCS#8), both PEM. */
export interface KeyPair {
  readonly certificate: string
  readonly key: string
}

export interface SelfSignedOptions {
  readonly commonName: string
  /** Milliseconds since the epoch. */
  readonly notBefore: number
  readonly notAfter: number
  /** At least 8 unpredictable bytes. */
  readonly serial: Uint8Array
}

type AlternativeName = { readonly type: 'dns' | 'ip'; readonly value: string }

const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const

/** Issues a self-signed CA certificate with a new ECDSA P-256 key and path length 0. */
export async function issueAuthority(options: SelfSignedOptions): Promise<KeyPair> {
  const x509 = await import('./x509.ts')
  const keys = await generateKeys()
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    serialNumber: serialHex(options.serial),
    name: new x509.Name([{ CN: [{ utf8String: options.commonName }] }]),
    notBefore: new Date(options.notBefore),
    notAfter: new Date(options.notAfter),
    keys,
    signingAlgorithm: algorithm,
    extensions: [
      new x509.BasicConstraintsExtension(true, 0, true),
      new x509.KeyUsagesExtension(
        x509.KeyUsageFlags.digitalSignature | x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign,
        true,
      ),
      await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
    ],
  })
  return pairOf(certificate.toString('pem'), keys.privateKey)
}

/** Issues a serving certificate for `hosts` (DNS names and IP addresses), signed by `authority`. */
export async function issueServing(
  authority: KeyPair,
  options: SelfSignedOptions & { readonly hosts: readonly string[] },
): Promise<KeyPair> {
  const x509 = await import('./x509.ts')
  const keys = await generateKeys()
  const issuer = new X509Certificate(authority.certificate)
  const issuerKey = createPrivateKey(authority.key).export({ type: 'pkcs8', format: 'der' })
  const issuerPublic = issuer.publicKey.export({ type: 'spki', format: 'der' })
  const certificate = await x509.X509CertificateGenerator.create({
    serialNumber: serialHex(options.serial),
    subject: new x509.Name([{ CN: [{ utf8String: options.commonName }] }]),
    issuer: new x509.X509Certificate(authority.certificate).subjectName,
    notBefore: new Date(options.notBefore),
    notAfter: new Date(options.notAfter),
    publicKey: keys.publicKey,
    signingKey: await crypto.subtle.importKey('pkcs8', issuerKey, algorithm, false, ['sign']),
    signingAlgorithm: algorithm,
    extensions: [
      new x509.BasicConstraintsExtension(false, undefined, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
      new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.serverAuth]),
      new x509.SubjectAlternativeNameExtension(
        options.hosts.map((host): AlternativeName => ({ type: isIP(host) === 0 ? 'dns' : 'ip', value: host })),
      ),
      await x509.AuthorityKeyIdentifierExtension.create(
        await crypto.subtle.importKey('spki', issuerPublic, algorithm, true, ['verify']),
      ),
    ],
  })
  return pairOf(certificate.toString('pem'), keys.privateKey)
}

async function generateKeys(): Promise<CryptoKeyPair> {
  return crypto.subtle.generateKey(algorithm, true, ['sign', 'verify'])
}

async function pairOf(certificate: string, privateKey: CryptoKey): Promise<KeyPair> {
  const der = Buffer.from(await crypto.subtle.exportKey('pkcs8', privateKey))
  const key = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' }).export({ type: 'pkcs8', format: 'pem' })
  return { certificate: certificate.endsWith('\n') ? certificate : `${certificate}\n`, key: key as string }
}

/** A positive serial number without a leading zero octet. */
function serialHex(bytes: Uint8Array): string {
  const serial = Buffer.from(bytes)
  serial[0] = (serial[0]! & 0x3f) | 0x40
  return serial.toString('hex')
}
