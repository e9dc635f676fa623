import { fakeClock, seededRandom, stockProfile } from '@krmkit/meta'
import { describe, expect, it } from 'vitest'
import type { AuthenticationOutcome } from '../interfaces.ts'
import { createCertificateAuthority } from '../testing/certificate-authority.ts'
import { type ClientCertificateOptions, createClientCertificateAuthenticator } from './client-certificate.ts'

const clock = fakeClock(Date.UTC(2026, 0, 1))
const environment = { clock, random: seededRandom(9) }
const root = createCertificateAuthority({ name: 'root', ...environment })
const judge = (peer: { certificates: readonly Uint8Array[] }, more: Partial<ClientCertificateOptions> = {}) =>
  createClientCertificateAuthenticator({ authorities: root.certificate, clock, profile: stockProfile, ...more }).authenticate({
    headers: {},
    peer,
  }) as AuthenticationOutcome
const reasonOf = (outcome: AuthenticationOutcome) => (outcome.kind === 'rejected' ? outcome.reason : outcome.kind)

describe('verifyClientChain', () => {
  it('takes user name, groups and uid from the subject', () => {
    const { peer } = root.issue({ commonName: 'alice', organizations: ['dev', 'ops'], uids: ['u-1'] })
    expect(judge(peer)).toMatchObject({ user: { username: 'alice', groups: ['dev', 'ops'], uid: 'u-1' } })
    const without = judge(peer, { withUid: false })
    expect(without.kind === 'authenticated' && without.user.uid).toBeUndefined()
  })

  it('rejects several uids and an empty uid', () => {
    for (const uids of [['a', 'b'], ['']])
      expect(reasonOf(judge(root.issue({ commonName: 'alice', uids }).peer))).toContain('more than one uid')
  })

  it('enforces path length constraints', () => {
    const one = root.intermediate({ name: 'one', pathLength: 0 })
    expect(reasonOf(judge(one.issue({ commonName: 'a' }).peer))).toBe('authenticated')
    const two = one.intermediate({ name: 'two' })
    expect(reasonOf(judge(two.issue({ commonName: 'a' }).peer))).toContain('longer than allowed')
    const wide = root.intermediate({ name: 'wide', pathLength: 1 }).intermediate({ name: 'below' })
    expect(reasonOf(judge(wide.issue({ commonName: 'a' }).peer))).toBe('authenticated')
  })

  it('rejects an authority restricted to server authentication', () => {
    const servers = root.intermediate({ name: 'servers', usage: 'server' })
    expect(reasonOf(judge(servers.issue({ commonName: 'a' }).peer))).toContain('may not sign for clients')
  })

  it('rejects an issuer that is not a CA certificate', () => {
    const fake = root.intermediate({ name: 'fake', isAuthority: false })
    expect(reasonOf(judge(fake.issue({ commonName: 'a' }).peer))).toContain('unknown authority')
  })

  it('rejects an unknown critical extension', () => {
    const { peer } = root.issue({ commonName: 'a', withUnknownCriticalExtension: true })
    expect(reasonOf(judge(peer))).toContain('critical extension')
  })

  it('rejects an authority with the same name and another key', () => {
    const impostor = createCertificateAuthority({ name: 'root', ...environment })
    expect(reasonOf(judge(impostor.issue({ commonName: 'a' }).peer))).toContain('unknown authority')
  })

  it('limits validity to that of all certificates of the chain', () => {
    const { peer } = root.issue({ commonName: 'a', notAfterMs: clock.now() + 1000 })
    const own = fakeClock(clock.now())
    const people = createClientCertificateAuthenticator({ authorities: root.certificate, clock: own, profile: stockProfile })
    expect(people.authenticate({ headers: {}, peer })).toMatchObject({ kind: 'authenticated' })
    own.advance(2000)
    expect(people.authenticate({ headers: {}, peer })).toMatchObject({ kind: 'rejected' })
  })

  it('applies changes of the CA bundle, and keeps the last valid bundle if the new one is invalid', () => {
    const next = createCertificateAuthority({ name: 'next', ...environment })
    let pem = root.certificate
    const people = createClientCertificateAuthenticator({ authorities: () => pem, clock, profile: stockProfile })
    const kinds = () =>
      [former.peer, later.peer].map((peer) => (people.authenticate({ headers: {}, peer }) as AuthenticationOutcome).kind)
    const former = root.issue({ commonName: 'a' })
    const later = next.issue({ commonName: 'b' })
    expect(kinds()).toEqual(['authenticated', 'rejected'])
    pem = `${root.certificate}${next.certificate}`
    expect(kinds()).toEqual(['authenticated', 'authenticated'])
    pem = 'half a file'
    expect(kinds()).toEqual(['authenticated', 'authenticated'])
    pem = next.certificate
    expect(kinds()).toEqual(['rejected', 'authenticated'])
  })

  const text = (value: string) => Buffer.from(value)
  const organization = '2.5.4.10'

  it('reads subject values in all common string types', () => {
    const rawNames = [
      { oid: organization, tag: 19, content: text('printable') },
      { oid: organization, tag: 22, content: text('ia5@x') },
      { oid: organization, tag: 20, content: Buffer.from('grün', 'latin1') },
      { oid: organization, tag: 30, content: Buffer.from('grün', 'utf16le').swap16() },
    ]
    expect(judge(root.issue({ commonName: 'alice', rawNames }).peer)).toMatchObject({
      user: { username: 'alice', groups: ['printable', 'ia5@x', 'grün', 'grün'] },
    })
  })

  it.each([
    ['invalid UTF-8', { oid: organization, tag: 12, content: Uint8Array.of(0xff, 0xfe) }],
    ['a PrintableString with other characters', { oid: organization, tag: 19, content: text('a@b') }],
    ['an IA5String with other characters', { oid: organization, tag: 22, content: Uint8Array.of(0xe4) }],
    ['half a UCS-2 character', { oid: organization, tag: 30, content: Uint8Array.of(0) }],
    ['a group that is not a string', { oid: organization, tag: 2, content: Uint8Array.of(1) }],
    ['another attribute that is not a string', { oid: '2.5.4.11', tag: 4, content: text('unit') }],
  ])('rejects a subject with %s', (_, name) => {
    const { peer } = root.issue({ commonName: 'alice', organizations: ['dev'], rawNames: [name] })
    expect(judge(peer)).toEqual({ kind: 'rejected', reason: 'the client certificate cannot be read' })
  })

  it.each([
    ['unreadable extended key usage', Uint8Array.of(0x02, 0x01, 0x00)],
    ['a usage that is not an object identifier', Uint8Array.of(0x30, 0x03, 0x02, 0x01, 0x00)],
    ['truncated extended key usage', Uint8Array.of(0x30, 0x09, 0x06)],
  ])('rejects %s', (_, value) => {
    const { peer } = root.issue({ commonName: 'alice', usage: 'any', rawExtensions: [{ oid: '2.5.29.37', value }] })
    expect(reasonOf(judge(peer))).toBe('the certificate cannot be read')
  })

  it('rejects a repeated extension', () => {
    const value = Uint8Array.of(0x30, 0x00)
    const rawExtensions = ['1.3.6.1.4.1.57683.98', '1.3.6.1.4.1.57683.98'].map((oid) => ({ oid, value }))
    expect(reasonOf(judge(root.issue({ commonName: 'alice', rawExtensions }).peer))).toBe('certificate has an extension twice')
  })
})
