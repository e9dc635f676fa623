import type { Features } from '@krmkit/meta'
import type { Environment } from './cel/environment.ts'

/** The expression language, loaded when something needs it: most servers have no rules. */

type Engine = typeof import('./cel/index.ts')

export interface Expressions {
  readonly engine: Engine
  /** For expressions that are stored already: everything there is. */
  readonly stored: Environment
  /** For new expressions: what the release before the present one knows too, so that a server can be set back. */
  fresh(features: Features): Environment
}

/** Loads once; `undefined` when that is done. */
export function loadExpressions(): Promise<void> | undefined {
  return loader.load()
}

/** @throws Error when nobody has waited for `loadExpressions`. */
export function expressions(): Expressions {
  return loader.loaded()
}

function lazyExpressions() {
  let loaded: Expressions | undefined
  let loading: Promise<void> | undefined
  return {
    load(): Promise<void> | undefined {
      if (loaded !== undefined) return undefined
      loading ??= import('./cel/index.ts').then((engine) => {
        loaded = expressionsOf(engine)
      })
      return loading
    },
    loaded(): Expressions {
      if (loaded === undefined) throw new Error('expressions are not loaded: wait for `ready` of the policy first')
      return loaded
    },
  }
}

/** Only a cache: the same code always gives the same. */
const loader = /* @__PURE__ */ lazyExpressions()

const everything = '1.999'

function expressionsOf(engine: Engine): Expressions {
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
