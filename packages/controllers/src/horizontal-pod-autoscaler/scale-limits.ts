import type { DeepReadonly } from '@krmkit/meta'
import type { ReadonlyAutoscaler, ScalingRules } from './objects.ts'

/** Limits how fast and how often an autoscaler scales. */

type Rules = DeepReadonly<Required<ScalingRules>>

interface Recommendation {
  readonly atMs: number
  readonly replicas: number
}

interface Change {
  readonly atMs: number
  /** Replicas added, or removed when negative. */
  readonly replicas: number
}

export interface LimitedReplicas {
  readonly replicas: number
  readonly ableToScale: { readonly reason: string; readonly message: string }
  readonly scalingLimited: { readonly status: string; readonly reason: string; readonly message: string }
}

const defaultDownWindowMs = 5 * 60_000
const defaultUp: Rules = {
  stabilizationWindowSeconds: 0,
  selectPolicy: 'Max',
  policies: [
    { type: 'Pods', value: 4, periodSeconds: 15 },
    { type: 'Percent', value: 100, periodSeconds: 15 },
  ],
}
const defaultDown: Rules = {
  stabilizationWindowSeconds: defaultDownWindowMs / 1000,
  selectPolicy: 'Max',
  policies: [{ type: 'Percent', value: 100, periodSeconds: 15 }],
}

const within = { reason: 'DesiredWithinRange', message: 'the desired count is within the acceptable range' }
const stable = { reason: 'ReadyForNewScale', message: 'recommended size matches current size' }
const stabilizedDown = {
  reason: 'ScaleDownStabilized',
  message: 'recent recommendations were higher than current one, applying the highest recent recommendation',
}
const stabilizedUp = {
  reason: 'ScaleUpStabilized',
  message: 'recent recommendations were lower than current one, applying the lowest recent recommendation',
}
const limitedUp = {
  reason: 'ScaleUpLimit',
  message: 'the desired replica count is increasing faster than the maximum scale rate',
}
const limitedDown = {
  reason: 'ScaleDownLimit',
  message: 'the desired replica count is decreasing faster than the maximum scale rate',
}
const tooMany = { reason: 'TooManyReplicas', message: 'the desired replica count is more than the maximum replica count' }
const tooFew = { reason: 'TooFewReplicas', message: 'the desired replica count is less than the minimum replica count' }

/** Recent recommendations and scale changes of one autoscaler. */
export class ScaleHistory {
  #recommendations: Recommendation[] = []
  #changes: Change[] = []

  /** Records the current replicas as the first recommendation. */
  begin(replicas: number, nowMs: number): void {
    if (this.#recommendations.length === 0) this.#recommendations.push({ atMs: nowMs, replicas })
  }

  recordChange(replicas: number, nowMs: number): void {
    this.#changes.push({ atMs: nowMs, replicas })
  }

  /** Applies stabilization, scaling policies and bounds to the proposed replicas. */
  limit(
    { spec }: ReadonlyAutoscaler,
    proposal: { readonly current: number; readonly desired: number },
    nowMs: number,
  ): LimitedReplicas {
    const bounds = { min: spec?.minReplicas ?? 1, max: spec?.maxReplicas ?? 1 }
    const { behavior } = spec ?? {}
    const up = { ...defaultUp, ...behavior?.scaleUp }
    const down = { ...defaultDown, ...behavior?.scaleDown }
    const stabilized =
      behavior == null ? this.#stabilize(proposal.desired, nowMs) : this.#stabilizeBoth(proposal, { up, down, nowMs })
    const ableToScale =
      stabilized === proposal.desired
        ? stable
        : behavior != null && proposal.desired >= proposal.current
          ? stabilizedUp
          : stabilizedDown
    const rated =
      behavior == null
        ? withoutBehavior(proposal.current, stabilized, bounds)
        : this.#withBehavior(proposal.current, stabilized, { bounds, up, down, nowMs })
    const isLimited = rated.replicas !== stabilized
    return { replicas: rated.replicas, ableToScale, scalingLimited: { status: isLimited ? 'True' : 'False', ...rated.because } }
  }

  /** Scales down at most to the highest recommendation of the last five minutes. */
  #stabilize(desired: number, nowMs: number): number {
    this.#forget(nowMs - defaultDownWindowMs)
    const highest = Math.max(desired, ...this.#recommendations.map(({ replicas }) => replicas))
    this.#recommendations.push({ atMs: nowMs, replicas: desired })
    return highest
  }

  #stabilizeBoth(
    { current, desired }: { readonly current: number; readonly desired: number },
    { up, down, nowMs }: { readonly up: Rules; readonly down: Rules; readonly nowMs: number },
  ): number {
    const since = (rules: Rules) => nowMs - rules.stabilizationWindowSeconds * 1000
    const after = (ms: number) => this.#recommendations.filter(({ atMs }) => atMs > ms).map(({ replicas }) => replicas)
    const lowest = Math.min(desired, ...after(since(up)))
    const highest = Math.max(desired, ...after(since(down)))
    this.#forget(Math.min(since(up), since(down)))
    this.#recommendations.push({ atMs: nowMs, replicas: desired })
    return Math.min(Math.max(current, lowest), highest)
  }

  #withBehavior(
    current: number,
    desired: number,
    options: {
      readonly bounds: { readonly min: number; readonly max: number }
      readonly up: Rules
      readonly down: Rules
      readonly nowMs: number
    },
  ): { readonly replicas: number; readonly because: { readonly reason: string; readonly message: string } } {
    const { bounds, up, down, nowMs } = options
    if (desired > current) {
      const limit = Math.max(current, this.#rateLimit(current, up, { sign: 1, nowMs }))
      const highest = Math.min(bounds.max, limit)
      if (desired > highest) return { replicas: highest, because: bounds.max > limit ? limitedUp : tooMany }
    } else if (desired < current) {
      const limit = Math.min(current, this.#rateLimit(current, down, { sign: -1, nowMs }))
      const lowest = Math.max(bounds.min, limit)
      if (desired < lowest) return { replicas: lowest, because: bounds.min < limit ? limitedDown : tooFew }
    }
    return { replicas: desired, because: within }
  }

  /** Returns the replicas up to which the policies allow scaling in one direction. */
  #rateLimit(
    current: number,
    { selectPolicy, policies }: Rules,
    { sign, nowMs }: { readonly sign: 1 | -1; readonly nowMs: number },
  ): number {
    if (selectPolicy === 'Disabled') return current
    const proposals = policies.map(({ type, value, periodSeconds }) => {
      const recent = this.#changes.filter(({ atMs }) => atMs > nowMs - periodSeconds * 1000)
      const atStart = current - recent.reduce((sum, { replicas }) => sum + replicas, 0)
      if (type === 'Pods') return atStart + sign * value
      const proposed = atStart * (1 + (sign * value) / 100)
      return sign > 0 ? Math.ceil(proposed) : Math.trunc(proposed)
    })
    const isLargest = (selectPolicy === 'Min') === sign < 0
    return isLargest ? Math.max(...proposals) : Math.min(...proposals)
  }

  #forget(beforeMs: number): void {
    const hourAgo = beforeMs - 3_600_000
    this.#recommendations = this.#recommendations.filter(({ atMs }) => atMs >= beforeMs)
    this.#changes = this.#changes.filter(({ atMs }) => atMs >= hourAgo)
  }
}

/** Limits without `behavior`: scaling up at most doubles the replicas, or reaches four if that is more. */
function withoutBehavior(
  current: number,
  desired: number,
  { min, max }: { readonly min: number; readonly max: number },
): { readonly replicas: number; readonly because: { readonly reason: string; readonly message: string } } {
  const rate = Math.max(2 * current, 4)
  if (desired < min) return { replicas: min, because: tooFew }
  if (desired > Math.min(max, rate)) return { replicas: Math.min(max, rate), because: max > rate ? limitedUp : tooMany }
  return { replicas: desired, because: within }
}
