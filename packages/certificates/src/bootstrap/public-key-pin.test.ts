import { createHash, X509Certificate } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { issueAuthority } from '../authority/self-signed.ts'
import { checkPublicKeyPins, parsePublicKeyPin, publicKeyPinOf } from './public-key-pin.ts'

const authority = async (commonName: string, serial: number) => {
  const times = { notBefore: Date.UTC(2026, 0, 1), notAfter: Date.UTC(2036, 0, 1) }
  return (await issueAuthority({ commonName, ...times, serial: new Uint8Array(8).fill(serial) })).certificate
}

describe('public key pins', () => {
  it('are the digest of the SubjectPublicKeyInfo', async () => {
    const pem = await authority('a', 1)
    const der = new X509Certificate(pem).publicKey.export({ type: 'spki', format: 'der' })
    expect(publicKeyPinOf(pem)).toBe(`sha256:${createHash('sha256').update(der).digest('hex')}`)
  })

  it('must cover every authority of a bundle', async () => {
    const [a, b] = [await authority('a', 1), await authority('b', 2)]
    const pins = [publicKeyPinOf(a), publicKeyPinOf(b).toUpperCase().replace('SHA256', 'sha256')]
    expect(() => checkPublicKeyPins(`${a}${b}`, pins)).not.toThrow()
    expect(() => checkPublicKeyPins(a, pins)).not.toThrow()
    for (const bundle of [`${a}${b}`, b, '', 'nonsense'])
      expect(() => checkPublicKeyPins(bundle, [pins[0]!])).toThrow(expect.objectContaining({ code: 'Untrusted' }))
    const broken = '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n'
    expect(() => checkPublicKeyPins(broken, pins)).toThrow(expect.objectContaining({ code: 'Untrusted' }))
  })

  it.each(['', 'sha256:', `sha1:${'0'.repeat(40)}`, `sha256:${'0'.repeat(63)}`, `sha256:${'g'.repeat(64)}`, '0'.repeat(64)])(
    'reject %j',
    (text) => {
      expect(() => parsePublicKeyPin(text)).toThrow(expect.objectContaining({ code: 'InvalidPin' }))
    },
  )
})
