import { X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { AuthenticationError } from '../authentication-error.ts'
import { createClientCertificateAuthenticator } from './client-certificate.ts'

const pem = (name: string) => readFileSync(new URL(`../../testdata/${name}.crt`, import.meta.url), 'utf8')
const read = (name: string) => new X509Certificate(pem(name))
const der = (...names: string[]) => names.map((name) => new Uint8Array(read(name).raw))
const profile = { domain: 'kubernetes.io' }
const now = Date.parse(read('ca').validFrom) + 60_000
const ask = (authenticator: ReturnType<typeof createClientCertificateAuthenticator>, certificates?: Uint8Array[]) =>
  authenticator.authenticate({ headers: {}, peer: certificates ? { certificates } : {} })

describe('createClientCertificateAuthenticator', () => {
  const clock = { now: () => now }
  const authenticator = createClientCertificateAuthenticator({ authorities: pem('ca'), clock, profile })

  it('takes the common name and every organization with any characters', () => {
    const admin = { username: 'admin', groups: ['system:masters', 'dev'] }
    expect(ask(authenticator, der('admin'))).toMatchObject({ user: admin })
    expect(ask(authenticator, der('odd-name'))).toMatchObject({ user: { username: 'grün, "x"', groups: ['a+b,c/d'] } })
  })

  it('sets the credential id under the domain of the profile', () => {
    const other = createClientCertificateAuthenticator({ authorities: pem('ca'), clock, profile: { domain: 'cloud.example' } })
    const extra = { 'authentication.cloud.example/credential-id': [expect.stringMatching(/^X509SHA256=[0-9a-f]{64}$/)] }
    expect(ask(other, der('admin'))).toMatchObject({ user: { extra } })
  })

  it('authenticates certificates of its authority, also through an intermediate', () => {
    expect(ask(authenticator, der('admin'))).toMatchObject({ kind: 'authenticated', user: { username: 'admin' } })
    expect(ask(authenticator, der('by-intermediate', 'intermediate'))).toMatchObject({
      user: { username: 'carol', groups: ['ops'] },
    })
  })

  it('has no opinion without a certificate, and on one without a common name', () => {
    expect(ask(authenticator)).toEqual({ kind: 'noOpinion' })
    expect(ask(authenticator, [])).toEqual({ kind: 'noOpinion' })
    expect(ask(authenticator, der('nameless'))).toEqual({ kind: 'noOpinion' })
  })

  it.each([
    ['another authority', ['by-other']],
    ['another authority that is sent along', ['by-other', 'other-ca']],
    ['an issuer that is not a CA', ['by-leaf', 'admin']],
  ])('rejects a certificate of %s', (_, names) => {
    expect(ask(authenticator, der(...names))).toEqual({ kind: 'rejected', reason: 'certificate signed by unknown authority' })
  })

  it('rejects a missing intermediate, a server certificate and malformed bytes', () => {
    const fresh = createClientCertificateAuthenticator({ authorities: pem('ca'), clock, profile })
    expect(ask(fresh, der('by-intermediate'))).toMatchObject({ kind: 'rejected' })
    expect(ask(fresh, der('serving'))).toEqual({ kind: 'rejected', reason: 'certificate specifies an incompatible key usage' })
    expect(ask(fresh, [new Uint8Array([1, 2, 3])])).toEqual({ kind: 'rejected', reason: 'the client certificate cannot be read' })
  })

  it('checks the validity on every request of a connection', () => {
    let time = now
    const timed = createClientCertificateAuthenticator({
      authorities: pem('ca'),
      clock: { now: () => time },
      profile,
      cacheBytes: 0,
    })
    const certificates = der('admin')
    expect(ask(timed, certificates)).toMatchObject({ kind: 'authenticated' })
    time = now + 200 * 365 * 86_400_000
    expect(ask(timed, certificates)).toEqual({ kind: 'rejected', reason: 'certificate has expired or is not yet valid' })
    time = now - 365 * 86_400_000
    expect(ask(timed, certificates)).toMatchObject({ kind: 'rejected' })
  })

  it('bounds the signature checks of a hostile chain', () => {
    const chain = der('by-other', ...Array.from({ length: 500 }, () => 'intermediate'))
    expect(ask(authenticator, chain)).toMatchObject({ kind: 'rejected' })
  })

  it('rejects a bundle without certificates', () => {
    expect(() => createClientCertificateAuthenticator({ authorities: 'nothing here', clock, profile })).toThrow(
      AuthenticationError,
    )
    const broken = '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n'
    const junk = broken.replace('AAAA', '!!!!')
    expect(() => createClientCertificateAuthenticator({ authorities: pem('ca') + junk, clock, profile })).toThrow('is not base64')
    const cut = pem('ca').replace('-----END CERTIFICATE-----', '')
    expect(() => createClientCertificateAuthenticator({ authorities: pem('ca') + cut, clock, profile })).toThrow('does not end')
    expect(() => createClientCertificateAuthenticator({ authorities: pem('ca') + broken, clock, profile })).toThrow(
      'certificate 2',
    )
  })
})
