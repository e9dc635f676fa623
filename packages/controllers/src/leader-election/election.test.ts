import { describe, expect, it } from 'vitest'
import { electionStep, type LeaderLease, type LeaseCandidate } from './election.ts'

const now = Date.UTC(2024, 0, 1)
const time = (secondsAgo: number) => new Date(now - secondsAgo * 1000).toISOString()

function candidate(name: string, spec: Partial<NonNullable<LeaseCandidate['spec']>> = {}, createdSecondsAgo = 0): LeaseCandidate {
  return {
    apiVersion: 'coordination.k8s.io/v1beta1',
    kind: 'LeaseCandidate',
    metadata: { name, creationTimestamp: time(createdSecondsAgo) },
    spec: {
      leaseName: 'l',
      binaryVersion: '1.33.0',
      emulationVersion: '1.33.0',
      strategy: 'OldestEmulationVersion',
      renewTime: time(1),
      pingTime: time(2),
      ...spec,
    },
  }
}

function lease(holderIdentity: string, spec: LeaderLease['spec'] = {}): LeaderLease {
  const held = { holderIdentity, leaseDurationSeconds: 15, renewTime: time(1), ...spec }
  return { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: { name: 'l' }, spec: held }
}

const holder = (candidates: readonly LeaseCandidate[], current?: LeaderLease) => {
  const step = electionStep(current, candidates, now)
  return step.kind === 'elect' ? step.holder : step.kind
}

describe('an election', () => {
  it('prefers the oldest emulation version, then the oldest binary, then the oldest candidate', () => {
    const old = candidate('old', { emulationVersion: '1.32.0' })
    expect(holder([candidate('a'), old])).toBe('old')
    expect(holder([candidate('a', { binaryVersion: '1.34.0' }), candidate('b')])).toBe('b')
    expect(holder([candidate('a', {}, 10), candidate('b', {}, 20)])).toBe('b')
    expect(holder([candidate('a', { emulationVersion: 'x' }), candidate('b')])).toBe('b')
  })

  it('starts without a Lease, without a holder, after expiry, and for a better candidate', () => {
    const [a, b] = [candidate('a'), candidate('b', { emulationVersion: '1.32.0' })]
    expect(holder([a])).toBe('a')
    expect(holder([a], lease(''))).toBe('a')
    expect(holder([a], lease('z', { renewTime: time(16) }))).toBe('a')
    expect(holder([a, b], lease('a'))).toBe('b')
    expect(electionStep(lease('b'), [a, b], now)).toEqual({ kind: 'wait', again: true })
  })

  it('does not start without candidates that renewed within half an hour', () => {
    expect(electionStep(undefined, [], now)).toEqual({ kind: 'wait', again: false })
    expect(electionStep(undefined, [candidate('a', { renewTime: time(1801) })], now)).toEqual({ kind: 'wait', again: false })
  })

  it('pings candidates first and waits five seconds for their renewals', () => {
    const silent = candidate('a', { renewTime: time(60), pingTime: time(70) })
    expect(electionStep(undefined, [silent], now)).toEqual({ kind: 'ping', candidates: [silent] })
    const pinged = candidate('a', { renewTime: time(60), pingTime: time(1) })
    expect(electionStep(undefined, [pinged, candidate('b')], now)).toEqual({ kind: 'wait', again: true })
    const late = candidate('a', { renewTime: time(60), pingTime: time(6) })
    expect(holder([late, candidate('b')])).toBe('b')
    expect(electionStep(undefined, [late], now)).toEqual({ kind: 'failed', message: 'no available candidates' })
  })

  it('starts again when a candidate has not renewed for a quarter of an hour', () => {
    const idle = candidate('a', { renewTime: time(901), pingTime: time(910) })
    expect(electionStep(lease('a'), [idle], now).kind).toBe('ping')
  })

  it('elects no holder for unknown strategies, and fails when the newest candidates disagree', () => {
    const other = candidate('a', { strategy: 'example.com/mine' })
    expect(electionStep(undefined, [other], now)).toEqual({ kind: 'elect', strategy: 'example.com/mine', holder: undefined })
    expect(electionStep(lease('z'), [other], now)).toEqual({ kind: 'wait', again: true })
    expect(electionStep(undefined, [other, candidate('b')], now)).toMatchObject({ kind: 'failed' })
    expect(holder([other, candidate('b', { binaryVersion: '1.34.0' })])).toBe('a')
  })
})
