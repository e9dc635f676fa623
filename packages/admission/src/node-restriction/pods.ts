import { ApiError, type DeepReadonly, type OwnerReference } from '@krmkit/meta'
import { allContainers, isMirror, type Pod, type PodSpec } from '../pod.ts'
import { secretNamesOf } from '../pod-secrets.ts'
import { type NodeRequest, refuse } from './node-request.ts'

/** A kubelet creates and deletes its mirror pods, updates the status of pods bound to its node, and evicts them. */
export function checkPod(request: NodeRequest): void {
  const { operation, subresource } = request.attributes
  if (subresource === 'status') checkStatus(request)
  else if (subresource === 'eviction') checkEviction(request)
  else if (subresource !== '') {
    refuse(request, `unexpected pod subresource ${JSON.stringify(subresource)}, only 'status' and 'eviction' are allowed`)
  } else if (operation === 'CREATE') checkMirror(request)
  else if (operation === 'DELETE') checkDeletion(request)
  else {
    const detail = `unexpected operation ${JSON.stringify(operation)}, node ${quote(request)} can only create and delete mirror pods`
    refuse(request, detail)
  }
}

function quote({ node }: NodeRequest): string {
  return JSON.stringify(node)
}

function checkMirror(request: NodeRequest): void {
  const { node, profile } = request
  const pod = request.object as DeepReadonly<Pod>
  if (!isMirror(pod, profile.domain)) {
    const annotation = `${profile.domain}/config.mirror`
    refuse(
      request,
      `pod does not have ${JSON.stringify(annotation)} annotation, node ${quote(request)} can only create mirror pods`,
    )
  }
  if (pod.spec.nodeName !== node) refuse(request, `node ${quote(request)} can only create pods with spec.nodeName set to itself`)
  checkOwner(request, pod.metadata.ownerReferences ?? [])
  const refers = referenceOf(pod.spec)
  if (refers !== undefined) refuse(request, `node ${quote(request)} can not create pods that reference ${refers}`)
}

function checkOwner(request: NodeRequest, owners: readonly DeepReadonly<OwnerReference>[]): void {
  const { node, reader } = request
  const who = `node ${quote(request)}`
  const [owner] = owners
  if (owners.length > 1) refuse(request, `${who} can only create pods with a single owner reference set to itself`)
  if (owner === undefined || owner.apiVersion !== 'v1' || owner.kind !== 'Node' || owner.name !== node) {
    refuse(request, `${who} can only create pods with an owner reference set to itself`)
  }
  if (owner.controller !== true) {
    refuse(request, `${who} can only create pods with a controller owner reference set to itself`)
  }
  if (owner.blockOwnerDeletion === true) refuse(request, `${who} must not set blockOwnerDeletion on an owner reference`)
  const found = reader.get({ group: '', resource: 'nodes' }, '', node)
  if (found === undefined) throw ApiError.notFound({ group: '', resource: 'node' }, node)
  if (owner.uid !== found.metadata.uid) {
    refuse(request, `node ${node} UID mismatch: expected ${owner.uid} got ${found.metadata.uid}`)
  }
}

/** The first kind of object that a pod references; mirror pods must not reference any, which would grant the node access. */
function referenceOf(spec: DeepReadonly<PodSpec>): string | undefined {
  const volumes = spec.volumes ?? []
  const sources = volumes.flatMap(({ projected }) => projected?.sources ?? [])
  const uses = (name: string) => volumes.some((volume) => volume[name] !== undefined && volume[name] !== null)
  const projects = (name: string) => sources.some((source) => Object.hasOwn(source, name))
  const containers = allContainers(spec) as readonly {
    env?: readonly { valueFrom?: object }[]
    envFrom?: readonly object[]
  }[]
  const hasConfigMap =
    uses('configMap') ||
    projects('configMap') ||
    containers.some(
      ({ env = [], envFrom = [] }) =>
        envFrom.some((source) => Object.hasOwn(source, 'configMapRef')) ||
        env.some(({ valueFrom }) => valueFrom !== undefined && Object.hasOwn(valueFrom, 'configMapKeyRef')),
    )
  if ((spec.serviceAccountName ?? '') !== '') return 'a service account'
  if (secretNamesOf(spec).length > 0) return 'secrets'
  if (hasConfigMap) return 'configmaps'
  if (projects('clusterTrustBundle')) return 'clustertrustbundles'
  if (uses('persistentVolumeClaim')) return 'persistentvolumeclaims'
  return (spec.resourceClaims ?? []).length > 0 ? 'resourceclaims' : undefined
}

/** @throws ApiError 404 */
export function existingPod({ reader, attributes }: NodeRequest, name: string): DeepReadonly<Pod> {
  const found = reader.get({ group: '', resource: 'pods' }, attributes.namespace, name)
  if (found === undefined) throw ApiError.notFound({ group: '', resource: 'pod' }, name)
  return found as DeepReadonly<Pod>
}

function checkDeletion(request: NodeRequest): void {
  // deleteCollection has no name; admission runs again for each object.
  if (request.attributes.name === '') return
  if (existingPod(request, request.attributes.name).spec.nodeName === request.node) return
  refuse(request, `node ${quote(request)} can only delete pods with spec.nodeName set to itself`)
}

function checkStatus(request: NodeRequest): void {
  const { attributes, object, node } = request
  if (attributes.operation !== 'UPDATE') refuse(request, `unexpected operation ${JSON.stringify(attributes.operation)}`)
  const old = attributes.oldObject as DeepReadonly<Pod> | undefined
  if (old?.spec.nodeName !== node) {
    refuse(request, `node ${quote(request)} can only update pod status for pods with spec.nodeName set to itself`)
  }
  if (!sameLabels(old.metadata.labels, object?.metadata.labels)) {
    refuse(request, `node ${quote(request)} cannot update labels through pod status`)
  }
  const claims = (pod: object | undefined) =>
    JSON.stringify((pod as { status?: { resourceClaimStatuses?: unknown } } | undefined)?.status?.resourceClaimStatuses ?? [])
  if (claims(old) !== claims(object)) refuse(request, `node ${quote(request)} cannot update resource claim statuses`)
}

function checkEviction(request: NodeRequest): void {
  const { attributes, object, node } = request
  if (attributes.operation !== 'CREATE') refuse(request, `unexpected operation ${attributes.operation}`)
  const name = attributes.name || (object?.metadata.name ?? '')
  if (name === '') refuse(request, 'could not determine pod from request data')
  if (existingPod(request, name).spec.nodeName !== node) {
    refuse(request, `node ${node} can only evict pods with spec.nodeName set to itself`)
  }
}

type Labels = Readonly<Record<string, string>> | undefined

function sameLabels(a: Labels = {}, b: Labels = {}): boolean {
  const names = Object.keys(a)
  return names.length === Object.keys(b).length && names.every((name) => Object.hasOwn(b, name) && a[name] === b[name])
}
