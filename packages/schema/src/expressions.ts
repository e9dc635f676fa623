import type { Features } from '@krmkit/meta'
import type { CelEngine } from './cel/engine.ts'
import type { Environment } from './cel/environment.ts'

/** Lazy loader of the CEL engine. Most servers have no expressions and never pay for loading it. */

export interface Expressions {
  readonly engine: CelEngine
  /** Environment of expressions read from storage: declares the functions of every release. */
  readonly stored: Environment
  /**
   * Environment of expressions in new objects: declares only what the previous release supports, so that a downgrade stays
   * possible.
   */
  fresh(features: Features): Environment
}

/** Loads the engine. Returns `undefined` once it is loaded; repeated calls share one load. */
export function loadExpressions(): Promise<void> | undefined {
  return loader.load()
}

/**
 * The loaded engine.
 *
 * @throws Error when `loadCel` has not completed.
 * @example
 * ```ts
 * await loadCel()
 * cel().storedExpressions.compile('1 + 1 == 2')
 * ```
 */
export function expressions(): Expressions {
  return loader.loaded()
}

function lazyExpressions() {
  let loaded: Expressions | undefined
  let loading: Promise<void> | undefined
  return {
    load(): Promise<void> | undefined {
      if (loaded !== undefined) return undefined
      loading ??= import('./cel/engine.ts').then(({ celEngine }) => {
        loaded = expressionsOf(celEngine)
      })
      return loading
    },
    loaded(): Expressions {
      if (loaded === undefined) throw new Error('expressions are not loaded: wait for `ready` of the policy first')
      return loaded
    },
  }
}

/** A cache: loading always gives the same module. */
const loader = /* @__PURE__ */ lazyExpressions()

const everything = '1.999'

function expressionsOf(engine: CelEngine): Expressions {
  const byRelease = new Map<string, Environment>()
  return {
    engine,
    stored: engine.Environment.ofRelease(everything),
    fresh({ release }) {
      const before = previousRelease(release.version)
      const known = byRelease.get(before)
      if (known !== undefined) return known
      const made = engine.Environment.ofRelease(before)
      byRelease.set(before, made)
      return made
    },
  }
}

function previousRelease(version: string): string {
  const [major = 1, minor = 0] = version.split('.').map(Number)
  return `${major}.${Math.max(0, minor - 1)}`
}
