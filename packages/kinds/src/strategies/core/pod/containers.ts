/** The container that logs, exec and attach address. */
import { ApiError, type DeepReadonly } from '@krmkit/meta'
import type { Pod } from '../../../types/core-v1.generated.ts'

/**
 * The name of the container that a request to `pods/log`, `pods/exec` or `pods/attach` addresses.
 *
 * @param container empty: the only container of the pod.
 * @throws ApiError 400 for an unknown container, or without a name where the pod has several.
 * @example
 * import type { Pod } from '@krmkit/kinds/core/v1'
 * import { chosenContainer } from '@krmkit/kinds/strategies'
 * const spec = { containers: [{ name: 'web' }, { name: 'proxy' }] }
 * const pod: Pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'web' }, spec }
 * chosenContainer(pod, 'proxy') // 'proxy'; the empty name would throw
 */
export function chosenContainer({ metadata, spec }: DeepReadonly<Pod>, container: string): string {
  const { containers = [], initContainers = [], ephemeralContainers = [] } = spec ?? {}
  if (container !== '') {
    const all = [...containers, ...initContainers, ...ephemeralContainers]
    if (all.some(({ name }) => name === container)) return container
    throw ApiError.badRequest(`container ${container} is not valid for pod ${metadata.name}`)
  }
  const [only] = containers
  if (only !== undefined && containers.length === 1) return only.name
  const choices = [...initContainers, ...containers, ...ephemeralContainers].map(({ name }) => name)
  const listed = containers.length === 0 ? '' : `, choose one of: [${choices.join(' ')}]`
  throw ApiError.badRequest(`a container name must be specified for pod ${metadata.name}${listed}`)
}
