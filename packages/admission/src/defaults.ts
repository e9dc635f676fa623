import type { NamingProfile, Random } from '@krmkit/meta'
import type { AdmissionPlugin } from './interfaces.ts'
import { priority } from './priority.ts'
import { serviceAccount } from './service-account.ts'
import { defaultTolerationSeconds, taintNodesByCondition } from './tolerations.ts'

/**
 * The plugins that a server with controllers runs beside `NamespaceLifecycle`, in execution order. Service accounts need the
 * controller that makes them: leave that plugin out where none runs.
 */
export function defaultAdmissionPlugins(options: {
  readonly profile: NamingProfile
  readonly random: Random
}): readonly AdmissionPlugin[] {
  const { profile } = options
  return [serviceAccount(options), taintNodesByCondition(profile), priority(profile), defaultTolerationSeconds(profile)]
}
