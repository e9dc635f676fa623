import { createPublicKey, generateKeyPairSync, type KeyObject, sign, X509Certificate } from 'node:crypto'
import { boolean, integer, oid, sequence, writePem } from '@krmkit/base/der'
import { stockProfile } from '@krmkit/meta'
import { describe, expect, it } from 'vitest'
import { parseSigningAuthority, type SigningAuthority } from '../authority/signing-authority.ts'
import { createSigningAuthority } from '../authority/signing-authority-store.ts'
import { createCertificateRequest } from '../create-certificate-request.ts'
import { writeAlternativeNames } from '../request/alternative-names.ts'
import { readCertificates } from '../request/certificate.ts'
import { decodeCertificateRequest } from '../request/certificate-request.ts'
import { formatDistinguishedName } from '../request/distinguished-name.ts'
import {
  base64Of,
  basicConstraints,
  commonName,
  nodeSubject,
  organization,
  publicDer,
  type RequestParts,
  requestBase64,
  requestDer,
  subjectAltName,
  testKey,
} from '../testing/requests.fixture.ts'
import { createClusterSigners } from './cluster-signers.ts'
import { issueCertificate } from './issue.ts'
import { builtInSigners } from './names.ts'

const start = Date.parse('2031-05-04T03:02:01Z')
const clock = { now: () => start }
let counter = 1
const random = { bytes: (size: number) => new Uint8Array(size).map(() => counter++ % 251) }
const authority = await createSigningAuthority({ clock, random })
const signers = builtInSigners(stockProfile)
const client = signers.apiserverClient
const minuteMs = 60_000
const hourMs = 60 * minuteMs

async function signed(parts: RequestParts, options: { signerName?: string; usages?: string[]; expirationSeconds?: number } = {}) {
  const made = createClusterSigners({ authority, clock, random, profile: stockProfile }).of(options.signerName ?? client)
  const pem = await made!.sign({ usages: ['client auth'], ...options, request: requestBase64(parts) })
  return { pem, node: new X509Certificate(pem), facts: readCertificates(pem)[0]! }
}
const extension = (facts: { extensions: readonly { oid: string }[] }) => facts.extensions.map(({ oid: name }) => name).sort()

describe('issued certificates', () => {
  it('are signed by the authority for the key of the request [P134]', async () => {
    const { node, pem } = await signed({
      subject: [
        [organization, 'dev'],
        [organization, 'ops'],
        [commonName, 'jane'],
      ],
    })
    const issuer = new X509Certificate(authority.certificate)
    expect(node.checkIssued(issuer) && node.verify(issuer.publicKey)).toBe(true)
    expect(node.checkPrivateKey(testKey())).toBe(true)
    expect(node.toLegacyObject().subject).toMatchObject({ CN: 'jane', O: ['dev', 'ops'] })
    expect(node.serialNumber).toMatch(/^[4-7][0-9A-F]{31}$/)
    expect(pem).toMatch(/^-----BEGIN CERTIFICATE-----\n[\s\S]+\n-----END CERTIFICATE-----\n$/)
  })

  it('keep alternative names and requested usages, and drop other extensions [P98]', async () => {
    const names = { dns: ['a.example.com'], emails: ['a@b.c'], ips: ['10.0.0.1', '2001:db8::1'], uris: ['https://a.b/c'] }
    const { node, facts } = await signed(
      {
        extensions: [
          [subjectAltName, writeAlternativeNames(names)],
          ['1.2.3.4', sequence()],
          ['2.5.29.30', sequence()],
          ['2.5.29.37', sequence(oid('1.3.6.1.5.5.7.3.1'))],
        ],
      },
      { usages: ['client auth', 'digital signature', 'key encipherment'] },
    )
    expect(facts.names).toEqual(names)
    expect(node.subjectAltName).toBe(
      'DNS:a.example.com, email:a@b.c, IP Address:10.0.0.1, IP Address:2001:DB8:0:0:0:0:0:1, URI:https://a.b/c',
    )
    expect(node.keyUsage).toEqual(['1.3.6.1.5.5.7.3.2'])
    expect(extension(facts)).toEqual(['2.5.29.15', '2.5.29.17', '2.5.29.19', '2.5.29.35', '2.5.29.37'])
    const keyUsage = facts.extensions.find(({ oid: name }) => name === '2.5.29.15')!
    expect([keyUsage.critical, ...keyUsage.value]).toEqual([true, 3, 2, 5, 0b10100000])
  })

  it('are never CA certificates [P109]', async () => {
    const { node, facts } = await signed({ extensions: [[basicConstraints, sequence(boolean(true), integer(3))]] })
    expect(node.ca).toBe(false)
    const basic = facts.extensions.find(({ oid: name }) => name === basicConstraints)!
    expect([basic.critical, ...basic.value]).toEqual([true, 0x30, 0])
  })

  it('have one common name and only known attributes [P98]', async () => {
    const subject = [
      [commonName, 'first'],
      ['1.3.6.1.4.1.57683.2', 'another-uid'],
      ['2.5.4.42', 'given'],
      [organization, 'b'],
      [commonName, 'last'],
      [organization, 'a'],
    ] as const
    const { facts } = await signed({ subject })
    expect(formatDistinguishedName(facts.subject)).toBe('O=a,O=b,CN=last')
    const tricky = await signed({ subject: [[commonName, '#0c0161,O=system:masters']] })
    expect(tricky.facts.subject).toMatchObject({ commonName: '#0c0161,O=system:masters', organizations: [] })
    expect(tricky.node.toLegacyObject().subject).toEqual(expect.objectContaining({ CN: '#0c0161,O=system:masters' }))
    const wide = await signed({ subject: [[commonName, 'Жанна 🙂']] })
    expect(wide.node.toLegacyObject().subject.CN).toBe('Жанна 🙂')
  })

  it('mark alternative names as critical without a subject [P98]', async () => {
    const extensions = [[subjectAltName, writeAlternativeNames({ dns: ['a'], emails: [], ips: [], uris: [] })]] as const
    const critical = async (parts: RequestParts) =>
      (await signed(parts)).facts.extensions.find(({ oid: name }) => name === subjectAltName)?.critical
    expect(await critical({ extensions, subject: [] })).toBe(true)
    expect(await critical({ extensions })).toBe(false)
  })
})

describe('validity', () => {
  const life = async (expirationSeconds?: number, maxDurationMs?: number, own: SigningAuthority = authority) => {
    const limits = maxDurationMs === undefined ? {} : { maxDurationMs }
    const made = createClusterSigners({ authority: own, clock, random, profile: stockProfile, ...limits }).of(client)!
    const wish = expirationSeconds === undefined ? {} : { expirationSeconds }
    const [facts] = readCertificates(await made.sign({ request: requestBase64({}), usages: ['client auth'], ...wish }))
    return [facts!.notBefore - start, facts!.notAfter - start]
  }
  const back = -5 * minuteMs

  it('defaults to one year, starting five minutes ago [P110]', async () => {
    expect(await life()).toEqual([back, 365 * 24 * hourMs + back])
  })

  it('is the shorter of configured and requested duration [P110]', async () => {
    expect(await life(24 * 3600)).toEqual([back, 24 * hourMs + back])
    expect(await life(24 * 3600, 12 * hourMs)).toEqual([back, 12 * hourMs + back])
    expect(await life(2 ** 31 - 1, 12 * hourMs)).toEqual([back, 12 * hourMs + back])
  })

  it('is not shortened by backdating when short [P110]', async () => {
    expect(await life(3600)).toEqual([back, hourMs])
    expect(await life(600)).toEqual([back, 10 * minuteMs])
    // Validation rejects this value.
    expect(await life(1)).toEqual([back, 10 * minuteMs])
  })

  it('does not exceed that of the authority; an expired authority does not sign [P110]', async () => {
    const near = await createSigningAuthority({ clock: { now: () => start - 3650 * 24 * hourMs + hourMs }, random })
    expect((await life(undefined, undefined, near))[1]).toBe(hourMs)
    const past = await createSigningAuthority({ clock: { now: () => start - 3650 * 24 * hourMs }, random })
    await expect(life(undefined, undefined, past)).rejects.toMatchObject({ code: 'UnusableAuthority' })
  })

  it('uses GeneralizedTime after 2049 [P110]', async () => {
    const late = Date.parse('2049-12-31T23:00:00Z')
    const own = await createSigningAuthority({ clock: { now: () => late }, random })
    const made = createClusterSigners({ authority: own, clock: { now: () => late }, random, profile: stockProfile }).of(client)!
    const pem = await made.sign({ request: requestBase64({}), usages: ['client auth'], expirationSeconds: 86_400 })
    expect(Date.parse(new X509Certificate(pem).validTo)).toBe(late + 24 * hourMs + back)
    expect(Date.parse(new X509Certificate(pem).validFrom)).toBe(late + back)
  })
})

describe('rejected requests', () => {
  it('violate the rules of the signer [P97] [P100] [P106]', async () => {
    const refused = { code: 'Refused' }
    await expect(signed({}, { usages: ['server auth'] })).rejects.toMatchObject(refused)
    await expect(signed({}, { signerName: signers.apiserverClientKubelet })).rejects.toMatchObject(refused)
    await expect(signed({ subject: nodeSubject }, { signerName: signers.kubeletServing })).rejects.toMatchObject(refused)
    await expect(signed({}, { signerName: signers.legacyUnknown, usages: ['__proto__'] })).rejects.toMatchObject(refused)
  })

  it('have a signature of another key, or were modified [P134]', async () => {
    const bad = { code: 'BadSignature' }
    const other = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey
    await expect(signed({ spki: publicDer(other) })).rejects.toMatchObject(bad)
    await expect(signed({ signature: new Uint8Array() })).rejects.toMatchObject(bad)
    await expect(signed({ signature: new Uint8Array(70).fill(0x30) })).rejects.toMatchObject(bad)
    // In flawed implementations a signature of zeros is always valid.
    await expect(signed({ signature: sequence(integer(0), integer(0)) })).rejects.toMatchObject(bad)
    const der = requestDer({})
    const at = Buffer.from(der).indexOf('jane')
    der[at] = 'J'.charCodeAt(0)
    const made = createClusterSigners({ authority, clock, random, profile: stockProfile }).of(client)!
    const request = base64Of(writePem('CERTIFICATE REQUEST', der))
    await expect(made.sign({ request, usages: ['client auth'] })).rejects.toMatchObject(bad)
  })

  it('have a signature algorithm that is unknown or does not match the key [P134]', async () => {
    const algorithm = (name: string) => sequence(oid(name))
    await expect(signed({ algorithm: algorithm('1.2.840.113549.1.1.11') })).rejects.toMatchObject({ code: 'BadSignature' })
    await expect(signed({ algorithm: algorithm('1.2.3') })).rejects.toMatchObject({ code: 'BadSignature' })
    await expect(signed({ algorithm: algorithm('1.2.840.113549.1.1.10') })).rejects.toMatchObject({ code: 'BadSignature' })
  })

  it('have weak or oversized keys, or weak digests [P134]', async () => {
    const weak = { code: 'WeakKey' }
    const rsa = (modulusLength: number) => generateKeyPairSync('rsa', { modulusLength }).privateKey
    await expect(signed({ key: rsa(1024) })).rejects.toMatchObject(weak)
    for (const name of ['1.2.840.113549.1.1.5', '1.2.840.113549.1.1.4', '1.2.840.10045.4.1'])
      await expect(signed({ algorithm: sequence(oid(name)) })).rejects.toMatchObject(weak)
    const spki = (modulus: Uint8Array, exponent: number) =>
      sequence(
        sequence(oid('1.2.840.113549.1.1.1'), Uint8Array.of(5, 0)),
        Uint8Array.from(bits(sequence(integer(modulus), integer(exponent)))),
      )
    const bits = (key: Uint8Array) => {
      const content = [0, ...key]
      return [3, 0x82, content.length >> 8, content.length & 255, ...content]
    }
    const modulus = (bytes: number) => new Uint8Array(bytes).fill(0xc5)
    await expect(signed({ spki: spki(modulus(1025), 65537) })).rejects.toMatchObject(weak)
    await expect(signed({ spki: spki(modulus(20_000), 65537) })).rejects.toMatchObject(weak)
    for (const exponent of [1, 2, 65536]) await expect(signed({ spki: spki(modulus(256), exponent) })).rejects.toMatchObject(weak)
    // This key type is for key agreement, not for signing.
    const { publicKey } = generateKeyPairSync('x25519')
    await expect(signed({ spki: publicKey.export({ format: 'der', type: 'spki' }) })).rejects.toMatchObject(weak)
  })

  it('have a point that is not on its curve [P134]', async () => {
    const spki = Uint8Array.from(publicDer(testKey()))
    spki[spki.length - 1]! ^= 1
    await expect(signed({ spki })).rejects.toMatchObject({ code: 'Malformed' })
  })

  it('have an unknown signer name [P112]', () => {
    const made = createClusterSigners({ authority: { kubeletServing: authority }, clock, random, profile: stockProfile })
    expect(made.of('example.com/x')).toBeUndefined()
    expect(made.of(client)).toBeUndefined()
    expect(made.of('__proto__')).toBeUndefined()
    expect(made.of(signers.kubeletServing)?.signerName).toBe('kubernetes.io/kubelet-serving')
  })
})

describe('key types', () => {
  const keys: [string, () => KeyObject][] = [
    ['RSA', () => generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey],
    ['P-384', () => generateKeyPairSync('ec', { namedCurve: 'P-384' }).privateKey],
    ['P-521', () => generateKeyPairSync('ec', { namedCurve: 'P-521' }).privateKey],
    ['Ed25519', () => generateKeyPairSync('ed25519').privateKey],
  ]

  it.each(keys)('supports %s for requests and authorities [P134]', async (_, make) => {
    const key = make()
    const { node } = await signed({ key })
    expect(node.checkPrivateKey(key)).toBe(true)
    const own: SigningAuthority = { ...authority, key }
    const request = decodeCertificateRequest(requestDer({ key }))
    const pem = issueCertificate(own, {
      request,
      usages: [],
      notBefore: start,
      notAfter: start + hourMs,
      serial: random.bytes(8),
    })
    expect(new X509Certificate(pem).verify(createPublicKey(key))).toBe(true)
  })

  it('supports RSA-PSS only with standard parameters [P134]', async () => {
    const key = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey
    const info = decodeCertificateRequest(requestDer({ key })).signed
    const made = (saltLength: number, hash: string) =>
      sign('sha256', info, { key, padding: 6, saltLength: Number(saltLength), ...{ hash } })
    const hash = sequence(oid('2.16.840.1.101.3.4.2.1'), Uint8Array.of(5, 0))
    const parameters = (salt: number) =>
      sequence(
        Uint8Array.from([0xa0, hash.length, ...hash]),
        Uint8Array.from(wrapped(0xa1, sequence(oid('1.2.840.113549.1.1.8'), hash))),
        Uint8Array.from(wrapped(0xa2, integer(salt))),
      )
    const wrapped = (tag: number, content: Uint8Array) => [tag, content.length, ...content]
    const algorithm = (salt: number) => sequence(oid('1.2.840.113549.1.1.10'), parameters(salt))
    await expect(signed({ key, algorithm: algorithm(32), signature: made(32, 'sha256') })).resolves.toBeDefined()
    await expect(signed({ key, algorithm: algorithm(0), signature: made(0, 'sha256') })).rejects.toMatchObject({
      code: 'BadSignature',
    })
  })

  it('requires CA:TRUE, keyCertSign and a matching key of an authority', () => {
    const leafKey = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey
    const pem = (key: KeyObject) => key.export({ format: 'pem', type: 'pkcs8' }) as string
    const request = decodeCertificateRequest(requestDer({ key: leafKey }))
    const leaf = issueCertificate(authority, {
      request,
      usages: [],
      notBefore: start,
      notAfter: start + 1,
      serial: random.bytes(8),
    })
    const unusable = expect.objectContaining({ code: 'UnusableAuthority' })
    expect(() => parseSigningAuthority({ certificate: leaf, key: pem(leafKey) })).toThrow(unusable)
    expect(() => parseSigningAuthority({ certificate: authority.certificate, key: pem(leafKey) })).toThrow(unusable)
    const malformed = expect.objectContaining({ code: 'Malformed' })
    expect(() => parseSigningAuthority({ certificate: '', key: pem(leafKey) })).toThrow(malformed)
    expect(() => parseSigningAuthority({ certificate: authority.certificate, key: 'none' })).toThrow(malformed)
    expect(createCertificateRequest({ subject: {}, key: pem(leafKey) }).key).toBe(pem(leafKey))
  })
})
