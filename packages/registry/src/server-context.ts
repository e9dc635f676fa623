import { pluginUser } from '@krmkit/admission'
import type { WriteContext } from './interfaces.ts'

/**
 * The context of the server's own writes. `signal` aborts them; without it they run to their end.
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
