import { execFileSync } from 'node:child_process'
import { generateKeyPairSync } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { bitString, boolean, der, integer, oid, sequence, setOf, tags } from '@krmkit/base/der'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { CertificateError } from '../certificate-error.ts'
import { createCertificateRequest } from '../create-certificate-request.ts'
import {
  base64Of,
  basicConstraints,
  commonName,
  nameDer,
  organization,
  requestBase64,
  requestDer,
  subjectAltName,
} from '../testing/requests.fixture.ts'
import { writeAlternativeNames } from './alternative-names.ts'
import { decodeCertificateRequest, maxRequestBytes, readCertificateRequest, readSigningRequest } from './certificate-request.ts'
import { formatDistinguishedName } from './distinguished-name.ts'

const utf8 = (text: string) => der(tags.utf8String, new TextEncoder().encode(text))
const malformedBy = (bytes: Uint8Array) => {
  try {
    decodeCertificateRequest(bytes)
  } catch (error) {
    expect(error).toBeInstanceOf(CertificateError)
    return (error as CertificateError).message
  }
  return undefined
}

describe('requests of other programs', () => {
  let folder: string
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'krmkit-requests-'))
  })
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  const kinds: [string, string[], object][] = [
    ['ec', ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1'], { algorithm: 'ECDSA', curve: 'P-256' }],
    ['p384', ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:secp384r1'], { algorithm: 'ECDSA', curve: 'P-384' }],
    ['rsa', ['-newkey', 'rsa:2048'], { algorithm: 'RSA', bits: 2048, exponent: 65537 }],
    ['ed25519', ['-newkey', 'ed25519'], { algorithm: 'Ed25519' }],
  ]
  const hasOpenssl = (() => {
    try {
      execFileSync('openssl', ['version'])
      return true
    } catch {
      return false
    }
  })()

  it.skipIf(!hasOpenssl).each(kinds)('are decoded from openssl: %s%s [P85]', (name, arguments_, key) => {
    const path = join(folder, `${name}.csr`)
    const extra = ['-nodes', '-keyout', join(folder, `${name}.key`), '-out', path, '-subj', '/O=dev/O=ops/CN=jane']
    const names = ['-addext', 'subjectAltName=DNS:a.example.com,IP:10.0.0.1,IP:fd00::7,email:a@b.c,URI:https://a.b/c']
    execFileSync('openssl', ['req', '-new', ...arguments_, ...extra, ...names], { stdio: 'ignore' })
    const read = readCertificateRequest(readFileSync(path, 'utf8'))
    expect(read.subject).toMatchObject({ commonName: 'jane', organizations: ['dev', 'ops'] })
    expect(read.names).toEqual({
      dns: ['a.example.com'],
      emails: ['a@b.c'],
      ips: ['10.0.0.1', 'fd00::7'],
      uris: ['https://a.b/c'],
    })
    expect(read.publicKey).toMatchObject(key)
  })

  it.skipIf(!hasOpenssl)('are encoded so that openssl can read them [P85]', () => {
    const { request } = createCertificateRequest({
      subject: { commonName: 'system:node:a', organizations: ['system:nodes'] },
      names: { dns: ['a.example.com'], ips: ['::1', '1:0:0:2::3', '10.0.0.1'] },
    })
    writeFileSync(join(folder, 'own.csr'), request)
    const said = execFileSync('openssl', ['req', '-in', join(folder, 'own.csr'), '-noout', '-text', '-verify'], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    expect(said).toContain('O = system:nodes, CN = system:node:a')
    expect(said).toContain('DNS:a.example.com, IP Address:0:0:0:0:0:0:0:1, IP Address:1:0:0:2:0:0:0:3, IP Address:10.0.0.1')
  })
})

describe('readSigningRequest', () => {
  it('reads the first block of base64-encoded PEM [P85]', () => {
    expect(readSigningRequest(requestBase64({})).subject.commonName).toBe('jane')
    const { request } = createCertificateRequest({ subject: { commonName: 'first' } })
    const other = createCertificateRequest({ subject: { commonName: 'second' } }).request
    expect(readSigningRequest(base64Of(`chatter\n${request}${other}`)).subject.commonName).toBe('first')
  })

  it.each([
    ['empty text', ''],
    ['no base64', '%%%'],
    ['no PEM', base64Of('hello')],
    ['a block of another type', base64Of('-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n')],
    ['no DER', base64Of('-----BEGIN CERTIFICATE REQUEST-----\nAAAA\n-----END CERTIFICATE REQUEST-----\n')],
    ['an empty block', base64Of('-----BEGIN CERTIFICATE REQUEST-----\n-----END CERTIFICATE REQUEST-----\n')],
  ])('rejects %s [P85]', (_, text) => {
    expect(() => readSigningRequest(text)).toThrow(expect.objectContaining({ code: 'Malformed' }))
  })
})

describe('malformed requests', () => {
  it('are rejected with trailing bytes at any level [P85]', () => {
    expect(malformedBy(requestDer({ trailing: Uint8Array.of(0) }))).toContain('trailing data')
    expect(malformedBy(requestDer({ version: Uint8Array.from([...integer(0), ...integer(0)]) }))).toBeDefined()
    const san = Uint8Array.from([...sequence(), 0x05, 0x00])
    expect(malformedBy(requestDer({ extensions: [[subjectAltName, san]] }))).toContain('trailing data')
  })

  it('are rejected in BER encodings that are not DER [P85]', () => {
    const good = requestDer({})
    // Indefinite length, a length with leading zeros, a non-minimal length.
    expect(malformedBy(Uint8Array.from([0x30, 0x80, ...good.subarray(4), 0, 0]))).toContain('indefinite')
    expect(malformedBy(Uint8Array.from([0x30, 0x83, 0, ...good.subarray(2)]))).toContain('leading zeros')
    expect(malformedBy(requestDer({ version: Uint8Array.from([2, 0x81, 1, 0]) }))).toContain('non-minimal')
    expect(malformedBy(requestDer({ version: Uint8Array.from([2, 2, 0, 0]) }))).toContain('minimally')
    expect(malformedBy(Uint8Array.from([0x3f, 0x81, 0x01, 0]))).toContain('tags above 30')
    expect(malformedBy(Uint8Array.from([0x30, 0x84, 0xff, 0xff, 0xff, 0xff]))).toContain('truncated')
  })

  it('are rejected with a repeated extension, also across attributes [P85]', () => {
    const empty = sequence()
    expect(
      malformedBy(
        requestDer({
          extensions: [
            [basicConstraints, empty],
            [basicConstraints, empty],
          ],
        }),
      ),
    ).toContain('duplicate')
    const wish = (value: Uint8Array) =>
      sequence(oid('1.2.840.113549.1.9.14'), setOf(sequence(sequence(oid(subjectAltName), der(tags.octetString, value)))))
    const names = (name: string) => writeAlternativeNames({ dns: [name], emails: [], ips: [], uris: [] })
    const attributes = der(0xa0, wish(names('a.b')), wish(names('c.d')))
    expect(malformedBy(requestDer({ attributes }))).toContain('duplicate')
  })

  it('are rejected with malformed keys [P85]', () => {
    const ec = (curve: string, point: number[]) =>
      sequence(sequence(oid('1.2.840.10045.2.1'), oid(curve)), bitString(Uint8Array.from(point)))
    const rsa = (...numbers: Uint8Array[]) =>
      sequence(sequence(oid('1.2.840.113549.1.1.1'), der(tags.null)), bitString(sequence(...numbers)))
    for (const [spki, why] of [
      [ec('1.3.132.0.10', [4, ...new Array<number>(64).fill(1)]), 'unsupported elliptic curve'],
      [ec('1.2.840.10045.3.1.7', [2, ...new Array<number>(32).fill(1)]), 'elliptic curve point'],
      [rsa(integer(0), integer(3)), 'modulus'],
      [rsa(der(tags.integer, Uint8Array.of(0x80)), integer(3)), 'negative'],
      [rsa(integer(77), integer(0)), 'exponent'],
      [rsa(integer(77), integer(new Uint8Array(300).fill(7))), 'too large'],
      [sequence(sequence(oid('1.2.840.113549.1.1.1')), bitString(sequence())), 'truncated'],
      [sequence(sequence(oid('1.3.101.112')), bitString(new Uint8Array(31))), 'Ed25519'],
    ] as const)
      expect(malformedBy(requestDer({ spki }))).toContain(why)
  })

  it('are rejected with malformed alternative names [P106]', () => {
    const san = (tag: number, bytes: number[]) =>
      requestDer({ extensions: [[subjectAltName, sequence(der(tag, Uint8Array.from(bytes)))]] })
    const text = (value: string) => [...new TextEncoder().encode(value)]
    expect(malformedBy(san(0x82, [0xc3, 0xa4]))).toContain('invalid character')
    expect(malformedBy(san(0x81, [0xff]))).toContain('invalid character')
    expect(malformedBy(san(0x87, [10, 0, 0]))).toContain('length 3')
    expect(malformedBy(san(0x87, [10, 0, 0, 1, 255, 255, 255, 0]))).toContain('length 8')
    expect(malformedBy(san(0x86, text('https://a b/')))).toContain('URI')
    expect(malformedBy(san(0x86, text('https://a..b/')))).toContain('URI')
    expect(malformedBy(san(0x02, [1]))).toContain('general name')
    // Names of other types are ignored.
    expect(malformedBy(san(0xa4, []))).toBeUndefined()
  })

  it('have an unambiguous subject: last common name, no nested attributes [P100]', () => {
    const subject = [
      [commonName, 'system:node:a'],
      [organization, 'system:nodes,O=system:masters'],
      [commonName, 'jane'],
    ] as const
    const read = decodeCertificateRequest(requestDer({ subject })).subject
    expect(read).toMatchObject({ commonName: 'jane', organizations: ['system:nodes,O=system:masters'] })
    expect(formatDistinguishedName(read)).toBe('CN=system:node:a,O=system:nodes\\,O\\=system:masters,CN=jane')
    const odd = [[commonName, ' #a+b"c\\d<e>;f\u0000 ']] as const
    expect(formatDistinguishedName(decodeCertificateRequest(requestDer({ subject: odd })).subject)).toBe(
      'CN=\\ #a\\+b\\"c\\\\d\\<e\\>\\;f\\00\\ ',
    )
  })

  it('are decoded in every string type, and rejected with invalid characters [P100]', () => {
    const read = (tag: number, bytes: number[]) =>
      decodeCertificateRequest(requestDer({ subject: [[commonName, der(tag, Uint8Array.from(bytes))]] })).subject.commonName
    expect(read(tags.bmpString, [0, 97, 0x20, 0xac])).toBe('a€')
    expect(read(tags.teletexString, [97, 0xe4])).toBe('aä')
    expect(read(tags.ia5String, [97])).toBe('a')
    // Values that are not strings are ignored.
    expect(read(tags.integer, [1])).toBe('')
    for (const [tag, bytes] of [
      [tags.utf8String, [0xff]],
      [tags.utf8String, [0xed, 0xa0, 0x80]],
      [tags.printableString, [0]],
      [tags.printableString, [0x40]],
      [tags.ia5String, [0x80]],
      [tags.bmpString, [0]],
      [tags.bmpString, [0xd8, 0]],
      [tags.numericString, [97]],
    ] as const)
      expect(() => read(tag, [...bytes])).toThrow(CertificateError)
  })

  it('report a requested CA:TRUE [P109]', () => {
    const wants = (value: Uint8Array) =>
      decodeCertificateRequest(requestDer({ extensions: [[basicConstraints, value]] })).wantsAuthority
    expect(wants(sequence(boolean(true)))).toBe(true)
    expect(wants(sequence())).toBe(false)
    expect(wants(Uint8Array.of(1, 2, 3))).toBe(false)
  })

  it('never cause a crash, a hang or a stack overflow [P85]', () => {
    const started = requestDer({})
    // Deeply nested, and very long.
    let deep: Uint8Array = new Uint8Array()
    for (let i = 0; i < 2_000; i++) deep = sequence(deep)
    expect(malformedBy(deep)).toBeDefined()
    expect(malformedBy(requestDer({ subject: deep }))).toBeDefined()
    expect(malformedBy(new Uint8Array(maxRequestBytes + 1))).toContain('longer')
    expect(malformedBy(sequence(new Uint8Array(200_000).fill(0x30)))).toBeDefined()
    for (let end = 0; end < started.length; end++) expect(malformedBy(started.subarray(0, end)), String(end)).toBeDefined()
  })

  it('yield a request or a CertificateError for every mutated byte [P85]', () => {
    const names = writeAlternativeNames({ dns: ['a.b'], emails: ['a@b'], ips: ['10.0.0.1'], uris: ['https://a.b/'] })
    const good = requestDer({ subject: nameDer([[commonName, utf8('jane')]]), extensions: [[subjectAltName, names]] })
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.nat(good.length - 1), fc.nat(255)), { minLength: 1, maxLength: 6 }), (changes) => {
        const bad = Uint8Array.from(good)
        for (const [at, byte] of changes) bad[at] = byte
        malformedBy(bad)
      }),
      { numRuns: 3000 },
    )
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
        malformedBy(bytes)
      }),
      { numRuns: 2000 },
    )
  })

  it('survive a round trip with generated keys [P85]', () => {
    const { privateKey } = generateKeyPairSync('ed25519')
    expect(decodeCertificateRequest(requestDer({ key: privateKey })).publicKey.algorithm).toBe('Ed25519')
  })
})
