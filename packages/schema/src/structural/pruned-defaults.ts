import { isJsonObject, type JsonObject, type JsonValue, setMember } from '@krmkit/meta'
import type { StructType } from '../interfaces.ts'
import { additionalNode, type SchemaNode } from '../schema-node.ts'
import { coerceEmbedded } from './embedded.ts'
import { pruneObject } from './prune.direct.ts'

/** A path step from the root: a member, or the item of a list. */
type Step = { readonly member: string } | 'item'

interface Parts {
  readonly root: SchemaNode
  /** The type `meta/v1.ObjectMeta`. */
  readonly metadata: StructType
}

/**
 * Returns the schema with pruned defaults: unknown metadata of embedded resources is removed from the defaults.
 *
 * @see kube-apiserver, `PruneDefaults` of `apiextensions-apiserver/pkg/apiserver/schema/defaulting`
 */
export function prunedDefaults(root: SchemaNode, metadata: StructType): SchemaNode {
  return root.containsDefaults && root.containsEmbedded ? prunedNode(root, [], { root, metadata }) : root
}

function prunedNode(node: SchemaNode, way: readonly Step[], parts: Parts): SchemaNode {
  if (!node.containsDefaults) return node
  const { items } = node
  const rest = additionalNode(node)
  const properties = new Map<string, SchemaNode>()
  for (const [name, property] of node.properties) properties.set(name, prunedNode(property, [...way, { member: name }], parts))
  return {
    ...node,
    properties,
    items: items === undefined ? undefined : prunedNode(items, [...way, 'item'], parts),
    additionalProperties: rest === undefined ? node.additionalProperties : prunedNode(rest, [...way, { member: '*' }], parts),
    default: node.default === undefined || way.length === 0 ? node.default : prunedFallback(node.default, way, parts),
  }
}

/** Prunes a default as part of an otherwise empty object; undefined when pruning removes it. */
function prunedFallback(fallback: JsonValue, way: readonly Step[], { root, metadata }: Parts): JsonValue | undefined {
  let whole: JsonValue = structuredClone(fallback)
  for (const step of [...way].reverse()) {
    if (step === 'item') whole = [whole]
    else {
      const object: JsonObject = {}
      setMember(object, step.member, whole)
      whole = object
    }
  }
  coerceEmbedded(whole as JsonObject, root, { metadata, lenient: true })
  pruneObject(whole as JsonObject, root)
  let at: JsonValue | undefined = whole
  for (const step of way) {
    if (step === 'item') at = Array.isArray(at) ? at[0] : undefined
    else at = isJsonObject(at) && Object.hasOwn(at, step.member) ? at[step.member] : undefined
  }
  return at
}
