import { type KindLifecycle, parseRuntimeConfig, type RuntimeConfig } from '@krmkit/kinds'
import type { ApiPlan, ApiVersionLife, Stability } from './interfaces.ts'
import { compareReleases } from './release.ts'
import { stabilityOf } from './stability.ts'

/** The recorded lives of kinds (`readLifecycle()` of `@krmkit/kinds`) seen at one release, and as a plan. */

/** What a kind is at a release. */
export interface KindState {
  readonly phase: 'future' | 'current' | 'deprecated' | 'removed'
  readonly stability: Stability
  /** First release without it, where that is known. */
  readonly removed?: string
  /** `group,version,kind` */
  readonly replacement?: string
}

/** @throws VersioningError `InvalidRelease` */
export function kindStateAt(life: KindLifecycle, release: string): KindState {
  const since = (start: string | null): boolean => start !== null && compareReleases(start, release) <= 0
  const phase = since(life.removed)
    ? 'removed'
    : since(life.deprecated)
      ? 'deprecated'
      : since(life.introduced ?? '0.0')
        ? 'current'
        : 'future'
  return {
    phase,
    stability: stabilityOf(life.version) ?? 'alpha',
    ...(life.removed === null ? {} : { removed: life.removed }),
    ...(life.replacement === null ? {} : { replacement: life.replacement }),
  }
}

/**
 * Whether a release serves a resource of the kind: while it lives, unless it is alpha, and as `--runtime-config` says.
 *
 * @param where the plural, and what is switched on and off.
 * @throws KindsError `InvalidRuntimeConfig`; VersioningError `InvalidRelease`.
 * @see API protocol specification, 9.1 and 9.2
 */
export function isServedAt(
  life: KindLifecycle,
  release: string,
  { resource, runtimeConfig = '' }: { readonly resource: string; readonly runtimeConfig?: string | RuntimeConfig },
): boolean {
  const { phase, stability } = kindStateAt(life, release)
  if (phase === 'future' || phase === 'removed') return false
  const config = typeof runtimeConfig === 'string' ? parseRuntimeConfig(runtimeConfig) : runtimeConfig
  return config.enabled(life.group, life.version, resource, stability !== 'alpha')
}

/** The versions of one kind in one group as a plan that the deprecation rules can be asked about. */
export function planOfKind(lives: readonly KindLifecycle[], group: string, kind: string): ApiPlan {
  const versions = lives.flatMap((life): ApiVersionLife[] => {
    if (life.group !== group || life.kind !== kind || life.introduced === null) return []
    const { version, introduced, deprecated, removed } = life
    const [inGroup, replacement] = life.replacement?.split(',') ?? []
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
