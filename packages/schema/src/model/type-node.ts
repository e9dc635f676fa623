import type { ScalarNode, SpecialName, StructType, TypeNode } from '../interfaces.ts'
import { SchemaError } from '../schema-error.ts'
import type { NodeFacts } from './facts.ts'

/** Builds a `TypeNode` from the facts of one node. */

/** Services of the type source that a node needs. */
export interface NodeContext {
  struct(name: string): StructType
  /** Special type of the named struct; `undefined` for ordinary structs. `folder` is the folder of the referring struct. */
  specialOf(name: string, folder: string): string | undefined
  enumValues(name: string): { readonly values: readonly string[]; readonly hidden: boolean } | undefined
}

/** @param folder group folder of the struct that contains the node. */
export function typeNode(facts: NodeFacts, folder: string, context: NodeContext): TypeNode {
  if (facts.scalar !== undefined) return facts.enum === undefined ? plainScalar(facts) : enumScalar(facts.enum, facts, context)
  if (facts.ref !== undefined) return reference(facts.ref, folder, context)
  if (facts.special !== undefined) return { kind: 'special', special: facts.special as SpecialName }
  const extras = {
    ...(facts.named === undefined ? {} : { named: facts.named }),
    ...(facts.protoWrapped ? { protoWrapped: true } : {}),
  }
  if (facts.list !== undefined) return { kind: 'list', of: typeNode(facts.list, folder, context), ...extras }
  if (facts.map === undefined)
    throw new SchemaError({ code: 'BadFacts', message: `type node without a type: ${JSON.stringify(facts)}` })
  const key = facts.keyNamed === undefined ? {} : { keyNamed: facts.keyNamed }
  return { kind: 'map', of: typeNode(facts.map, folder, context), ...key, ...extras }
}

function plainScalar(facts: NodeFacts): ScalarNode {
  const scalar = facts.scalar as ScalarNode['scalar']
  return facts.named === undefined ? { kind: 'scalar', scalar } : { kind: 'scalar', scalar, named: facts.named }
}

/** Enumeration values resolve lazily: they may be declared in the file of another group. */
function enumScalar(enumName: string, facts: NodeFacts, context: NodeContext): ScalarNode {
  const scalar = facts.scalar as ScalarNode['scalar']
  return {
    kind: 'scalar',
    scalar,
    named: facts.named ?? enumName,
    enumName,
    get enum() {
      return context.enumValues(enumName)?.values ?? []
    },
    get enumHidden() {
      return context.enumValues(enumName)?.hidden ?? false
    },
  }
}

function reference(name: string, folder: string, context: NodeContext): TypeNode {
  const special = context.specialOf(name, folder)
  if (special === undefined) return { kind: 'struct', name, struct: () => context.struct(name) }
  if (!special.startsWith('JSONSchemaPropsOr')) return { kind: 'special', special: special as SpecialName, name }
  const schema = `${name.slice(0, name.lastIndexOf('.'))}.JSONSchemaProps`
  return { kind: 'special', special: special as SpecialName, name, struct: () => context.struct(schema) }
}
