import { loadCel } from '@krmkit/schema'
import { lazyModule } from '../shared/lazy-module.ts'

/** The rules of admission policies, which are of no use without the engine of their expressions. */
export const policyRules = /* @__PURE__ */ lazyModule('the rules of admission policies', async () => ({
  ...(await import('./validating-admission-policy/validation.ts')),
  ...(await import('./mutating-admission-policy/validation.ts')),
}))

/** Loads the rules and the engine. */
export function policiesReady(): Promise<void> | undefined {
  const [rules, engine] = [policyRules.load(), loadCel()]
  if (rules === undefined) return engine
  return engine === undefined ? rules : rules.then(() => engine)
}
