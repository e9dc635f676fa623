import type { StructType, TypeNode } from '../interfaces.ts'

/** Type names as they appear in Go's error messages. */

/** For example `v1.PodSpec`. */
export function goStructName(type: StructType): string {
  return `${type.packageName}.${type.typeName}`
}

/** For example `map[string]string`, `[]v1.Container`, `v1.Protocol`, `int32`; pointers are omitted. */
export function goTypeName(node: TypeNode): string {
  switch (node.kind) {
    case 'scalar':
      if (node.named !== undefined) return shortName(node.named)
      return scalarNames[node.scalar] ?? node.scalar
    case 'struct':
      return goStructName(node.struct())
    case 'special':
      return shortName(node.name ?? specialPackages[node.special] ?? `v1.${node.special}`)
    case 'list':
      return node.named === undefined ? `[]${goTypeName(node.of)}` : shortName(node.named)
    case 'map':
      if (node.named !== undefined) return shortName(node.named)
      return `map[${node.keyNamed === undefined ? 'string' : shortName(node.keyNamed)}]${goTypeName(node.of)}`
  }
}

const scalarNames: Readonly<Record<string, string>> = { bytes: '[]uint8', any: 'interface {}' }
const specialPackages: Readonly<Record<string, string>> = {
  Quantity: 'resource.Quantity',
  IntOrString: 'intstr.IntOrString',
  RawExtension: 'runtime.RawExtension',
}

/** `core/v1.Protocol` becomes `v1.Protocol`. */
function shortName(name: string): string {
  return name.slice(name.lastIndexOf('/') + 1)
}
