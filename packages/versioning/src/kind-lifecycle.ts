import { type KindLifecycle, parseRuntimeConfig, type RuntimeConfig } from '@krmkit/kinds'
import type { ApiPlan, ApiVersionLifecycle, Stability } from './interfaces.ts'
import { compareReleases } from './release.ts'
import { stabilityOf } from './stability.ts'

/** Recorded lifecycles of kinds (`readLifecycle()` of `@krmkit/kinds`), evaluated at a release or converted to a plan. */

/** The state of a kind at a release. */
export interface KindState {
  readonly phase: 'future' | 'current' | 'deprecated' | 'removed'
  readonly stability: Stability
  /** First release without the kind, if known. */
  readonly removed?: string
  /** `group,version,kind` */
  readonly replacement?: string
}

/**
 * Returns the state of a kind at a release.
 *
 * @throws VersioningError `InvalidRelease`
 * @example
 * import { readLifecycle } from '@krmkit/kinds'
 * import { kindStateAt } from '@krmkit/versioning'
 * const cronJob = readLifecycle().find(({ kind, version }) => kind === 'CronJob' && version === 'v1beta1')!
 * kindStateAt(cronJob, '1.24') // { phase: 'deprecated', stability: 'beta', removed: '1.25', replacement: 'batch,v1,CronJob' }
 */
export function kindStateAt(lifecycle: KindLifecycle, release: string): KindState {
  const since = (start: string | null): boolean => start !== null && compareReleases(start, release) <= 0
  const phase = since(lifecycle.removed)
    ? 'removed'
    : since(lifecycle.deprecated)
      ? 'deprecated'
      : since(lifecycle.introduced ?? '0.0')
        ? 'current'
        : 'future'
  return {
    phase,
    stability: stabilityOf(lifecycle.version) ?? 'alpha',
    ...(lifecycle.removed === null ? {} : { removed: lifecycle.removed }),
    ...(lifecycle.replacement === null ? {} : { replacement: lifecycle.replacement }),
  }
}

/**
 * Whether a release serves a resource of the kind: beta and stable versions unless `--runtime-config` disables them, alpha versions
 * only when it enables them.
 *
 * @throws KindsError `InvalidRuntimeConfig`; VersioningError `InvalidRelease`.
 * @example
 * import { readLifecycle } from '@krmkit/kinds'
 * import { isServedAt } from '@krmkit/versioning'
 * const cronJob = readLifecycle().find(({ kind, version }) => kind === 'CronJob' && version === 'v1beta1')!
 * isServedAt(cronJob, '1.24', { resource: 'cronjobs' }) // true
 * isServedAt(cronJob, '1.25', { resource: 'cronjobs' }) // false
 * @see API protocol specification, 9.1 and 9.2
 */
export function isServedAt(
  lifecycle: KindLifecycle,
  release: string,
  { resource, runtimeConfig = '' }: { readonly resource: string; readonly runtimeConfig?: string | RuntimeConfig },
): boolean {
  const { phase, stability } = kindStateAt(lifecycle, release)
  if (phase === 'future' || phase === 'removed') return false
  const config = typeof runtimeConfig === 'string' ? parseRuntimeConfig(runtimeConfig) : runtimeConfig
  return config.enabled(lifecycle.group, lifecycle.version, resource, stability !== 'alpha')
}

/**
 * Converts the versions of one kind in one group to a plan for `validateApiPlan`.
 *
 * @example
 * import { readLifecycle } from '@krmkit/kinds'
 * import { kindApiPlan, validateApiPlan } from '@krmkit/versioning'
 * const plan = kindApiPlan(readLifecycle(), 'batch', 'CronJob')
 * plan.versions.map(({ version, introduced }) => `${version} ${introduced}`) // [ 'v1 1.21', 'v1beta1 1.8', 'v2alpha1 1.4' ]
 * validateApiPlan(plan) // []
 */
export function kindApiPlan(lifecycles: readonly KindLifecycle[], group: string, kind: string): ApiPlan {
  const versions = lifecycles.flatMap((lifecycle): ApiVersionLifecycle[] => {
    if (lifecycle.group !== group || lifecycle.kind !== kind || lifecycle.introduced === null) return []
    const { version, introduced, deprecated, removed } = lifecycle
    const [inGroup, replacement] = lifecycle.replacement?.split(',') ?? []
    return [
      {
        version,
        introduced,
        ...(deprecated === null ? {} : { deprecated }),
        ...(removed === null ? {} : { removed }),
        ...(replacement === undefined || inGroup !== group ? {} : { replacement }),
      },
    ]
  })
  return { versions }
}
