import type { ApiObject, DeepReadonly, Features, NamingProfile } from '@krmkit/meta'
import { gateEnabled } from '@krmkit/meta/feature-gates'
import type { AdmissionAttributes, AdmissionContext, AdmissionPlugin } from '../interfaces.ts'
import { requiredFeatures } from '../node-features.ts'
import { type NodeSelector, selectsNode } from '../node-selector.ts'
import type { Pod } from '../pod.ts'
import { forbidden } from '../refusals.ts'
import { onResource } from '../targets.ts'

interface Node extends ApiObject {
  status?: { declaredFeatures?: readonly string[] | null }
}

/** Where devices are: on one node, on nodes that a selector matches, or on all. */
interface Placement {
  readonly nodeName?: string | null
  readonly nodeSelector?: NodeSelector | null
  readonly allNodes?: boolean | null
}

interface Device extends Placement {
  readonly name?: string
  readonly nodeAllocatableResources?: object | null
}

interface ResourceSlice {
  readonly spec?: Placement & { readonly perDeviceNodeSelection?: boolean | null; readonly devices?: readonly Device[] | null }
}

type StoredNode = DeepReadonly<Node>

const nodes = { group: '', resource: 'nodes' }
const allocatableResources = 'DRANodeAllocatableResources'

/**
 * Refuses an update of a pod that needs a feature which its node does not declare, such as a resize of init containers. With the gate
 * `DRANodeAllocatableResources`, devices that count as resources of a node need nodes that declare it. A plugin since 1.35.
 *
 * @example
 * ```ts
 * import { admit, ObjectSet } from '@krmkit/admission'
 * import { nodeDeclaredFeatureValidator } from '@krmkit/admission/plugins'
 * import { createFeatures, stockProfile } from '@krmkit/meta'
 *
 * const cluster = new ObjectSet()
 * cluster.put({ group: '', resource: 'nodes' }, { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n1' } })
 * const pod = (cpu: string, generation: number) => {
 *   const spec = { nodeName: 'n1', containers: [], resources: { requests: { cpu } } }
 *   return { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'web', namespace: 'shop', generation }, spec }
 * }
 * const pods = { kind: { group: '', version: 'v1', kind: 'Pod' }, resource: { group: '', version: 'v1', resource: 'pods' } }
 * const request = { ...pods, operation: 'UPDATE' as const, subresource: 'resize', object: pod('2', 2), oldObject: pod('1', 1) }
 * const result = await admit(request, [nodeDeclaredFeatureValidator(stockProfile, createFeatures('1.36'))], cluster)
 * result.status?.code // 403
 * ```
 */
export function nodeDeclaredFeatureValidator({ apiDomain }: NamingProfile, features: Features): AdmissionPlugin {
  const isPod = onResource('', 'pods', ['UPDATE'], ['', 'resize'])
  const isSlice = onResource(`resource.${apiDomain}`, 'resourceslices', ['CREATE', 'UPDATE'])
  const validatesSlices = features.release.atLeast('1.37') && gateEnabled(allocatableResources, features)
  return {
    name: 'NodeDeclaredFeatureValidator',
    handles: (target) => isPod(target) || (validatesSlices && isSlice(target)),
    async validate(object, attributes, context) {
      if (object === undefined) return
      if (isPod(attributes)) validatePod(object as DeepReadonly<Pod>, attributes, { context, features })
      else await validateSlice(object, attributes, context)
    },
  }
}

function validatePod(
  pod: DeepReadonly<Pod>,
  attributes: AdmissionAttributes,
  { context, features }: { readonly context: AdmissionContext; readonly features: Features },
): void {
  const old = attributes.oldObject as DeepReadonly<Pod> | undefined
  const { nodeName = '' } = pod.spec ?? {}
  if (nodeName === '' || old === undefined || pod.metadata.generation === old.metadata.generation) return
  const required = requiredFeatures(pod, old, features.release)
  if (required.length === 0) return
  const node: StoredNode | undefined = context.reader.get(nodes, '', nodeName)
  if (node === undefined) throw forbidden(attributes, pod, `node "${nodeName}" not found`)
  const missing = required.filter((name) => !declares(node, name))
  if (missing.length === 0) return
  const detail = `pod update requires features ${missing.join(', ')} which are not available on node "${nodeName}"`
  throw forbidden(attributes, pod, detail)
}

function declares(node: StoredNode, feature: string): boolean {
  return node.status?.declaredFeatures?.includes(feature) ?? false
}

async function validateSlice(
  object: DeepReadonly<ApiObject>,
  attributes: AdmissionAttributes,
  { reader }: AdmissionContext,
): Promise<void> {
  const spec = (object as ResourceSlice).spec ?? {}
  const refuse = (detail: string) => forbidden(attributes, object, detail)
  let lacking: readonly StoredNode[] | undefined
  for (const device of spec.devices ?? []) {
    if (Object.keys(device.nodeAllocatableResources ?? {}).length === 0) continue
    const { nodeName, nodeSelector, allNodes } = spec.perDeviceNodeSelection === true ? device : spec
    if (isNamed(nodeName)) {
      const node: StoredNode | undefined = reader.get(nodes, '', nodeName)
      if (node === undefined) throw refuse(`node "${nodeName}" not found for device "${device.name ?? ''}"`)
      if (!declares(node, allocatableResources)) throw refuse(unsupported(node))
      continue
    }
    const selector = isObject(nodeSelector) ? nodeSelector : undefined
    if (selector === undefined && allNodes !== true) {
      const problem = 'in ResourceSlice has NodeAllocatableResources but does not map to any nodes'
      throw refuse(`device "${device.name ?? ''}" ${problem}`)
    }
    lacking ??= (await reader.list(nodes)).filter((node) => !declares(node, allocatableResources))
    const used = selector === undefined ? lacking[0] : lacking.find((node) => selectsNode(selector, node))
    if (used !== undefined) throw refuse(unsupported(used))
  }
}

function unsupported({ metadata }: StoredNode): string {
  return `node "${metadata.name}" does not support ${allocatableResources} feature`
}

function isNamed(name: string | null | undefined): name is string {
  return name !== undefined && name !== null && name !== ''
}

function isObject<T extends object>(value: T | null | undefined): value is T {
  return value !== undefined && value !== null
}
