import type { ApiObject, DeepReadonly } from '@krmkit/meta'

/**
 * Coordinated leader election: computes the next step for one Lease from its state and its candidates.
 *
 *     needed --a candidate has not answered--> ping --answers, or 5 s pass--> elect --> lease held or handed over
 */

/** A Lease held by a leader. */
export interface LeaderLease extends ApiObject {
  spec?: {
    holderIdentity?: string
    leaseDurationSeconds?: number
    renewTime?: string
    acquireTime?: string
    leaseTransitions?: number
    strategy?: string
    preferredHolder?: string
  }
}

export interface LeaseCandidate extends ApiObject {
  spec?: {
    leaseName: string
    pingTime?: string
    renewTime?: string
    binaryVersion: string
    emulationVersion?: string
    strategy: string
  }
}

/** Time within which a pinged candidate must renew, and maximum age of a renewal that counts in the election. */
export const electionMs = 5000
/** Age of the last renewal above which a candidate is expired: it is ignored, then deleted. */
export const candidateMs = 30 * 60_000
/** The only strategy for which this server elects a holder. */
export const oldestEmulationVersion = 'OldestEmulationVersion'

export type ElectionStep =
  /** Wait for the next event; with `again`, run again after `electionMs`. */
  | { readonly kind: 'wait'; readonly again: boolean }
  /** Ask these candidates to renew, by setting `pingTime`. */
  | { readonly kind: 'ping'; readonly candidates: readonly DeepReadonly<LeaseCandidate>[] }
  /**
   * Give the Lease to `holder`. Undefined for a strategy that another component implements; then only the strategy is
   * recorded.
   */
  | { readonly kind: 'elect'; readonly strategy: string; readonly holder: string | undefined }
  | { readonly kind: 'failed'; readonly message: string }

type Candidates = readonly DeepReadonly<LeaseCandidate>[]

/** @param candidates all candidates of the Lease, including expired ones. @param now milliseconds since the epoch. */
export function electionStep(lease: DeepReadonly<LeaderLease> | undefined, candidates: Candidates, now: number): ElectionStep {
  const taking = candidates.filter((candidate) => !isExpiredCandidate(candidate, now))
  if (taking.length === 0) return { kind: 'wait', again: false }
  const need = electionNeed(lease, taking, now)
  if (need !== true) return need
  const waiting = taking.filter((candidate) => isPinged(candidate, now) && !hasAnswered(candidate))
  const silent = taking.filter((candidate) => !waiting.includes(candidate) && !isFresh(candidate, now) && mayPing(candidate, now))
  if (silent.length > 0) return { kind: 'ping', candidates: silent }
  if (waiting.length > 0) return { kind: 'wait', again: true }
  return elect(taking.filter((candidate) => isFresh(candidate, now)))
}

function electionNeed(lease: DeepReadonly<LeaderLease> | undefined, candidates: Candidates, now: number): ElectionStep | true {
  const { holderIdentity = '' } = lease?.spec ?? {}
  if (lease === undefined || isExpiredLease(lease, now) || holderIdentity === '') return true
  // A live candidate renews at least twice within its lifetime.
  if (candidates.some(({ spec }) => timeOf(spec?.renewTime) + candidateMs / 2 < now)) return true
  const chosen = chosenStrategy(candidates)
  if ('message' in chosen) return { kind: 'failed', ...chosen }
  if (chosen.strategy !== oldestEmulationVersion) return { kind: 'wait', again: true }
  const best = bestCandidate(candidates)
  return best === undefined || best.metadata.name === holderIdentity ? { kind: 'wait', again: true } : true
}

function elect(answered: Candidates): ElectionStep {
  if (answered.length === 0) return { kind: 'failed', message: 'no available candidates' }
  const chosen = chosenStrategy(answered)
  if ('message' in chosen) return { kind: 'failed', ...chosen }
  const { strategy } = chosen
  if (strategy !== oldestEmulationVersion) return { kind: 'elect', strategy, holder: undefined }
  const best = bestCandidate(answered)
  return best === undefined
    ? { kind: 'failed', message: 'no candidate has valid versions' }
    : { kind: 'elect', strategy, holder: best.metadata.name }
}

/** Returns the strategy of the candidates with the newest binary version, or a message when they disagree. */
function chosenStrategy(candidates: Candidates): { readonly strategy: string } | { readonly message: string } {
  let newest = candidates[0]
  for (const candidate of candidates.slice(1)) {
    const order = compareVersions(newest?.spec?.binaryVersion, candidate.spec?.binaryVersion)
    if (order < 0) newest = candidate
    else if (order === 0 && candidate.spec?.strategy !== newest?.spec?.strategy) {
      const names = `${JSON.stringify(newest?.metadata.name)}, ${JSON.stringify(candidate.metadata.name)}`
      return { message: `candidates ${names} have the same binary version but different strategies` }
    }
  }
  return { strategy: newest?.spec?.strategy ?? '' }
}

/** Returns the candidate with the oldest emulation version, then the oldest binary, then the first created. */
function bestCandidate(candidates: Candidates): DeepReadonly<LeaseCandidate> | undefined {
  return candidates
    .filter(({ spec }) => parseVersion(spec?.emulationVersion) !== undefined && parseVersion(spec?.binaryVersion) !== undefined)
    .reduce<DeepReadonly<LeaseCandidate> | undefined>((best, candidate) => {
      return best === undefined || compareCandidates(best, candidate) > 0 ? candidate : best
    }, undefined)
}

function compareCandidates(a: DeepReadonly<LeaseCandidate>, b: DeepReadonly<LeaseCandidate>): number {
  return (
    compareVersions(a.spec?.emulationVersion, b.spec?.emulationVersion) ||
    compareVersions(a.spec?.binaryVersion, b.spec?.binaryVersion) ||
    timeOf(a.metadata.creationTimestamp) - timeOf(b.metadata.creationTimestamp)
  )
}

function parseVersion(text: string | undefined): readonly number[] | undefined {
  const match = /^v?(\d{1,9})(?:\.(\d{1,9}))?(?:\.(\d{1,9}))?(?:[-+].*)?$/.exec(text ?? '')
  return match === null ? undefined : match.slice(1, 4).map((part) => Number(part ?? 0))
}

/** Versions that do not parse count as 0.0.0. */
function compareVersions(a: string | undefined, b: string | undefined): number {
  const [left = [], right = []] = [parseVersion(a), parseVersion(b)]
  for (const index of [0, 1, 2]) {
    const order = (left[index] ?? 0) - (right[index] ?? 0)
    if (order !== 0) return order
  }
  return 0
}

/** Returns milliseconds since the epoch; negative infinity without a valid time. */
function timeOf(text: string | null | undefined): number {
  const at = Date.parse(text ?? '')
  return Number.isNaN(at) ? Number.NEGATIVE_INFINITY : at
}

export function isExpiredCandidate({ spec }: DeepReadonly<LeaseCandidate>, now: number): boolean {
  return timeOf(spec?.renewTime) + candidateMs < now
}

export function isExpiredLease({ spec }: DeepReadonly<LeaderLease>, now: number): boolean {
  if (spec?.leaseDurationSeconds === undefined) return true
  return timeOf(spec.renewTime) + spec.leaseDurationSeconds * 1000 < now
}

/** Whether the last renewal is recent enough for the candidate to be elected. */
function isFresh({ spec }: DeepReadonly<LeaseCandidate>, now: number): boolean {
  return timeOf(spec?.renewTime) + electionMs > now
}

function isPinged({ spec }: DeepReadonly<LeaseCandidate>, now: number): boolean {
  return timeOf(spec?.pingTime) + electionMs > now
}

/** Whether the candidate has renewed since its last ping. */
export function hasAnswered({ spec }: DeepReadonly<LeaseCandidate>): boolean {
  return spec?.pingTime === undefined || timeOf(spec.renewTime) >= timeOf(spec.pingTime)
}

/** Whether the candidate may be pinged. One that did not answer its last ping is not pinged again. */
function mayPing(candidate: DeepReadonly<LeaseCandidate>, now: number): boolean {
  return candidate.spec?.pingTime === undefined || (timeOf(candidate.spec.pingTime) + electionMs < now && hasAnswered(candidate))
}
