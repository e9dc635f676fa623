import { loadCel } from '@krmkit/schema'
import { type LazyModule, lazyModule } from '../shared/lazy-module.ts'

/** The rules of an admission policy, which are of no use without the engine of their expressions: loading loads both. */
export function policyRules<T>(importRules: () => Promise<T>): LazyModule<T> {
  const rules = lazyModule('the rules of admission policies', importRules)
  return {
    loaded: rules.loaded,
    load() {
      const [loading, engine] = [rules.load(), loadCel()]
      if (loading === undefined) return engine
      return engine === undefined ? loading : loading.then(() => engine)
    },
  }
}
