import type { ApiObject, DeepReadonly } from '@krmkit/meta'
import { goQuote } from '@krmkit/meta/go-text'
import { forbiddenNodeLabels } from './labels.ts'
import { type NodeRequest, refuse } from './node-request.ts'

interface Node extends ApiObject {
  spec?: { taints?: object[]; configSource?: object }
}

/** A kubelet creates and updates its own Node, without changing taints, owners or restricted labels. */
export function checkNode(request: NodeRequest): void {
  const { node, attributes } = request
  const who = `node ${goQuote(node)}`
  const requested = attributes.name
  if (requested !== node) refuse(request, `${who} is not allowed to modify node ${goQuote(requested)}`)
  const next = request.object as DeepReadonly<Node> | undefined
  if (attributes.operation === 'CREATE') {
    if (isSet(next?.spec?.configSource)) refuse(request, `${who} is not allowed to create pods with a non-nil configSource`)
    const wrong = forbiddenNodeLabels(next?.metadata.labels, {}, request.profile)
    if (wrong.length > 0) refuse(request, `${who} is not allowed to set the following labels: ${wrong.join(', ')}`)
  }
  if (attributes.operation === 'UPDATE') checkChange(request, who)
}

function checkChange(request: NodeRequest, who: string): void {
  const next = request.object as DeepReadonly<Node>
  const old = request.attributes.oldObject as DeepReadonly<Node> | undefined
  const { configSource } = next.spec ?? {}
  if (isSet(configSource) && !same(configSource, old?.spec?.configSource)) {
    refuse(request, `${who} is not allowed to update configSource to a new non-nil configSource`)
  }
  if (!same(next.spec?.taints ?? [], old?.spec?.taints ?? [])) refuse(request, `${who} is not allowed to modify taints`)
  if (!same(next.metadata.ownerReferences ?? [], old?.metadata.ownerReferences ?? [])) {
    refuse(request, `${who} is not allowed to modify ownerReferences`)
  }
  const wrong = forbiddenNodeLabels(next.metadata.labels, old?.metadata.labels, request.profile)
  if (wrong.length > 0) refuse(request, `is not allowed to modify labels: ${wrong.join(', ')}`)
}

function isSet(value: unknown): boolean {
  return value !== undefined && value !== null
}

/** Both come from the same decoder, which orders members. */
function same(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b)
}
