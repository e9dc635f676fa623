import { pluginUser } from '@krmkit/admission'
import type { WriteContext } from './interfaces.ts'

/**
 * The context of writes by the server itself. `signal` aborts these writes; without it they run to completion.
 *
 * @example
 * import { serverContext } from '@krmkit/registry'
 * serverContext().fieldManager // 'kube-apiserver'
 */
export function serverContext(signal: AbortSignal = new AbortController().signal): WriteContext {
  return {
    user: { username: pluginUser, groups: ['system:masters', 'system:authenticated'] },
    dryRun: false,
    fieldManager: 'kube-apiserver',
    signal,
    warn: () => undefined,
  }
}
