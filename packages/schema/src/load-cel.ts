import type { Environment } from '@krmkit/cel'
import type { Features } from '@krmkit/meta'
import type { CelEngine } from './rules/engine.ts'

/** Loads the CEL engine lazily, because most servers have no expressions. */

export interface CelRuntime {
  readonly engine: CelEngine
  /** Environment of expressions read from storage: declares the functions of every release. */
  readonly storedExpressions: Environment
  /**
   * Environment of expressions in new objects: declares only what the previous release supports, so that a downgrade stays
   * possible.
   */
  newExpressions(features: Features): Environment
}

/**
 * Loads the engine. Returns `undefined` once it is loaded; repeated calls share one load.
 *
 * @see {@link cel}
 */
export function loadCel(): Promise<void> | undefined {
  return loader.load()
}

/**
 * The loaded engine.
 *
 * @throws Error when `loadCel` has not completed.
 * @example
 * import { cel, loadCel } from '@krmkit/schema'
 * await loadCel()
 * 'problem' in cel().storedExpressions.compile('1 + 1 == 2') // false
 */
export function cel(): CelRuntime {
  return loader.loaded()
}

function lazyRuntime() {
  let loaded: CelRuntime | undefined
  let loading: Promise<void> | undefined
  return {
    load(): Promise<void> | undefined {
      if (loaded !== undefined) return undefined
      loading ??= import('./rules/engine.ts').then(({ celEngine }) => {
        loaded = createRuntime(celEngine)
      })
      return loading
    },
    loaded(): CelRuntime {
      if (loaded === undefined) throw new Error('the CEL engine is not loaded: await loadCel() first')
      return loaded
    },
  }
}

/** A cache: every load returns the same module. */
const loader = /* @__PURE__ */ lazyRuntime()

const latestRelease = '1.999'

function createRuntime(engine: CelEngine): CelRuntime {
  const byRelease = new Map<string, Environment>()
  return {
    engine,
    storedExpressions: engine.Environment.ofRelease(latestRelease),
    newExpressions({ release }) {
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
