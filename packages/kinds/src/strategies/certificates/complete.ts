import type { Strategy } from '../../interfaces.ts'
import { presentModule } from '../shared/lazy-module.ts'
import { signingRequestStrategy } from './certificate-signing-request/strategy.ts'
import * as requestRules from './certificate-signing-request/validation.ts'
import { trustBundleStrategy } from './cluster-trust-bundle/strategy.ts'
import * as bundleRules from './cluster-trust-bundle/validation.ts'

/** The strategies with their rules, for the handles of the kinds: `validate` needs no `ready`. */

export const completeSigningRequestStrategy: Strategy = /* @__PURE__ */ signingRequestStrategy(
  /* @__PURE__ */ presentModule(requestRules),
)

export const completeTrustBundleStrategy: Strategy = /* @__PURE__ */ trustBundleStrategy(
  /* @__PURE__ */ presentModule(bundleRules),
)
