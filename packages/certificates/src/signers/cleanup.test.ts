import { describe, expect, it } from 'vitest'
import { createSigningAuthority } from '../authority/signing-authority-store.ts'
import { base64Of } from '../testing/requests.fixture.ts'
import { cleanupTime } from './cleanup.ts'

const made = '2031-05-04T00:00:00Z'
const later = '2031-05-04T10:00:00Z'
const hourMs = 3_600_000
const request = (...conditions: { type: string; lastUpdateTime?: string | null; lastTransitionTime?: string | null }[]) => ({
  metadata: { creationTimestamp: made },
  status: { conditions },
})

describe('cleanupTime', () => {
  it('is one day after creation for pending requests [P135]', () => {
    expect(cleanupTime({ metadata: { creationTimestamp: made } })).toBe(Date.parse(made) + 24 * hourMs)
    expect(cleanupTime(request({ type: 'Wonderful', lastUpdateTime: later }))).toBe(Date.parse(made) + 24 * hourMs)
  })

  it('is one hour after the last change for approved, denied and failed requests [P135]', () => {
    for (const type of ['Approved', 'Denied', 'Failed'])
      expect(cleanupTime(request({ type, lastUpdateTime: later }))).toBe(Date.parse(later) + hourMs)
    const changed = request(
      { type: 'Approved', lastUpdateTime: made, lastTransitionTime: made },
      { type: 'Failed', lastUpdateTime: later },
    )
    expect(cleanupTime(changed)).toBe(Date.parse(later) + hourMs)
    expect(cleanupTime(request({ type: 'Denied', lastUpdateTime: null }))).toBe(Date.parse(made) + hourMs)
  })

  it('is not later than the expiry of the certificate [P135]', async () => {
    const random = { bytes: (size: number) => new Uint8Array(size).fill(7) }
    const { certificate, info } = await createSigningAuthority({
      clock: { now: () => Date.parse('2020-01-01T00:00:00Z') },
      random,
    })
    const issued = { metadata: { creationTimestamp: made }, status: { certificate: base64Of(certificate), conditions: [] } }
    expect(cleanupTime(issued)).toBe(info.notAfter)
    expect(cleanupTime({ ...issued, status: { certificate: base64Of('damaged') } })).toBe(Date.parse(made) + 24 * hourMs)
  })

  it('is undefined without creation time [P135]', () => {
    expect(cleanupTime({ metadata: {} })).toBeUndefined()
  })
})
