/** The container that logs, exec and attach address. */
import { ApiError, type DeepReadonly } from '@krmkit/meta'
import type { Pod } from '../../../types/core-v1.generated.ts'

/**
 * Checks the container that a request to `pods/log`, `pods/exec` or `pods/attach` addresses.
 *
 * @param container empty: the only container of the pod.
 * @throws ApiError 400 for an unknown container, or without a name where the pod has several.
 * @example
 * import type { Pod } from '@krmkit/kinds/core/v1'
 * import { checkContainer } from '@krmkit/kinds/strategies'
 * const spec = { containers: [{ name: 'web' }, { name: 'proxy' }] }
 * const pod: Pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'web' }, spec }
 * checkContainer(pod, 'proxy') // undefined; the empty name would throw
 */
export function checkContainer({ metadata, spec }: DeepReadonly<Pod>, container: string): void {
  const { containers = [], initContainers = [], ephemeralContainers = [] } = spec ?? {}
  if (container !== '') {
    const all = [...containers, ...initContainers, ...ephemeralContainers]
    if (all.some(({ name }) => name === container)) return
    throw ApiError.badRequest(`container ${container} is not valid for pod ${metadata.name}`)
  }
  if (containers.length === 1) return
  const groups = [
    [', choose one of', containers],
    [' or one of the init containers', initContainers],
    [' or one of the ephemeral containers', ephemeralContainers],
  ] as const
  const choices = groups
    .filter(([, group]) => group.length > 0)
    .map(([text, group]) => `${text}: [${group.map(({ name }) => name).join(' ')}]`)
  throw ApiError.badRequest(`a container name must be specified for pod ${metadata.name}${choices.join('')}`)
}
