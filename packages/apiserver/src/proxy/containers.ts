import { ApiError, type DeepReadonly } from '@krmkit/meta'

interface Container {
  readonly name: string
}

/** The fields of a pod that connections to its containers need. */
export interface PodWithContainers {
  readonly metadata: { readonly name?: string }
  readonly spec?: {
    readonly nodeName?: string
    readonly containers?: readonly Container[]
    readonly initContainers?: readonly Container[]
    readonly ephemeralContainers?: readonly Container[]
  }
}

/** The requested container, or the only one. @throws ApiError 400 for an unknown one, and for none of several. */
export function chosenContainer({ metadata, spec = {} }: DeepReadonly<PodWithContainers>, container: string): string {
  const { containers = [], initContainers = [], ephemeralContainers = [] } = spec
  if (container !== '') {
    const all = [...containers, ...initContainers, ...ephemeralContainers]
    if (all.some(({ name }) => name === container)) return container
    throw ApiError.badRequest(`container ${container} is not valid for pod ${metadata.name}`)
  }
  const [only] = containers
  if (only !== undefined && containers.length === 1) return only.name
  const names = (of: readonly Container[]) => `[${of.map(({ name }) => name).join(' ')}]`
  const choice = [
    `a container name must be specified for pod ${metadata.name}`,
    ...(containers.length === 0 ? [] : [`, choose one of: ${names(containers)}`]),
    ...(initContainers.length === 0 ? [] : [` or one of the init containers: ${names(initContainers)}`]),
    ...(ephemeralContainers.length === 0 ? [] : [` or one of the ephemeral containers: ${names(ephemeralContainers)}`]),
  ]
  throw ApiError.badRequest(choice.join(''))
}
