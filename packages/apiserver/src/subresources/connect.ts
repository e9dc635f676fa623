import { ApiError, type DeepReadonly } from '@krmkit/meta'
import type { ApiResponse } from '@krmkit/protocol'
import { isStorableName, objectKey } from '@krmkit/registry'
import { text } from '../query.ts'
import { type ResourceRequest, writeContext } from '../resource-handler.ts'
import { connectOptions } from './connect-options.ts'
import { operationAdmission } from './operation.ts'

interface Container {
  readonly name: string
}

interface Pod {
  readonly metadata: { readonly name?: string }
  readonly spec?: {
    readonly nodeName?: string
    readonly containers?: readonly Container[]
    readonly initContainers?: readonly Container[]
    readonly ephemeralContainers?: readonly Container[]
  }
}

/** Sub-resources that lead to a node, and the methods that they take; `proxy` takes every one. */
export const connectable: ReadonlyMap<string, readonly string[] | undefined> = new Map([
  ['exec', ['GET', 'POST']],
  ['attach', ['GET', 'POST']],
  ['portforward', ['GET', 'POST']],
  ['log', ['GET']],
  ['proxy', undefined],
])

/** Sub-resources that mean one container of the pod. */
const ofContainers: ReadonlySet<string> = new Set(['log', 'exec', 'attach'])

/**
 * Sub-resources that lead to a node (`exec`, `attach`, `portforward`, `log`, `proxy`). This server has no nodes of its own
 * to lead to: it says why, as the stock server does when a pod runs nowhere. The log of such a pod is empty.
 */
export async function connectResource(request: ResourceRequest): Promise<ApiResponse> {
  const { machinery, state, definition } = request
  const { namespace, name, subresource } = state.info
  if (subresource !== 'log') await askAdmission(request)
  const { storage } = machinery.writer.environment
  const entry = isStorableName(name) ? storage.peek(objectKey(definition, namespace, name)) : undefined
  if (entry === undefined) throw ApiError.notFound({ group: definition.group, resource: definition.resource.name }, name)
  const object = machinery.parsed.objectOf(entry) as DeepReadonly<Pod>
  const host = object.spec?.nodeName ?? ''
  if (definition.kind.kind === 'Pod') {
    if (ofContainers.has(subresource)) checkContainer(object, text(state.query, 'container') ?? '')
    if (host === '' && subresource === 'log') return { status: 204, headers: {}, body: { kind: 'empty' } }
    if (host === '') throw ApiError.badRequest(`pod ${name} does not have a host assigned`)
  }
  throw ApiError.serviceUnavailable(
    `no way leads to ${host === '' ? name : `node ${JSON.stringify(host)}`}: this server is not connected to any node`,
  )
}

/** Connections are asked about before anything is looked up; reading a log is no connection. @throws ApiError */
async function askAdmission(request: ResourceRequest): Promise<void> {
  const options = connectOptions(request)
  const kind = request.subresource?.kind
  if (options === undefined || kind === undefined) return
  const context = writeContext(request, { dryRun: false, fieldManager: '' })
  const about = { name: request.state.info.name, kind, operation: 'CONNECT' as const }
  const admission = operationAdmission(request, request.definition, context, about)
  await admission.judge(await admission.admit(options))
}

/** A container of the pod must be named, unless it has only one. */
function checkContainer({ metadata, spec = {} }: DeepReadonly<Pod>, container: string): void {
  const { containers = [], initContainers = [], ephemeralContainers = [] } = spec
  if (container !== '') {
    const all = [...containers, ...initContainers, ...ephemeralContainers]
    if (all.some(({ name }) => name === container)) return
    throw ApiError.badRequest(`container ${container} is not valid for pod ${metadata.name}`)
  }
  if (containers.length === 1) return
  const names = (of: readonly Container[]) => `[${of.map(({ name }) => name).join(' ')}]`
  const choice = [
    `a container name must be specified for pod ${metadata.name}`,
    ...(containers.length === 0 ? [] : [`, choose one of: ${names(containers)}`]),
    ...(initContainers.length === 0 ? [] : [` or one of the init containers: ${names(initContainers)}`]),
    ...(ephemeralContainers.length === 0 ? [] : [` or one of the ephemeral containers: ${names(ephemeralContainers)}`]),
  ]
  throw ApiError.badRequest(choice.join(''))
}
