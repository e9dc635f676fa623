/** The protobuf library alone, with types built from the same data and its own message objects. */
import type { StructType, TypeNode } from '@krmkit/schema'
import { decodeMessage, encodeMessage } from '@krmkit/schema/protobuf'
// The copy that the schema package depends on.
import protobuf from '../../../packages/schema/node_modules/protobufjs/index.js'

export interface RawMessages {
  encode(): Uint8Array
  decode(): unknown
}

export function rawMessages(type: StructType, object: object): RawMessages {
  const root = new protobuf.Root()
  const Message = messageOf(root, type)
  root.resolveAll()
  const bytes = encodeMessage(type, object)
  decodeMessage(type, bytes)
  const message = Message.decode(bytes)
  return { encode: () => Message.encode(message).finish(), decode: () => Message.decode(bytes) }
}

const special: Readonly<Record<string, readonly (readonly [name: string, id: number, type: string])[]>> = {
  Time: [
    ['seconds', 1, 'int64'],
    ['nanos', 2, 'int32'],
  ],
  MicroTime: [
    ['seconds', 1, 'int64'],
    ['nanos', 2, 'int32'],
  ],
  Quantity: [['string', 1, 'string']],
  IntOrString: [
    ['type', 1, 'int64'],
    ['intVal', 2, 'int32'],
    ['strVal', 3, 'string'],
  ],
}
const scalars: Readonly<Record<string, string>> = {
  string: 'string',
  bool: 'bool',
  int32: 'int32',
  int64: 'int64',
  float64: 'double',
  bytes: 'bytes',
}

function messageOf(root: protobuf.Root, type: StructType): protobuf.Type {
  const name = nameOf(type.name)
  const known = root.get(name)
  if (known instanceof protobuf.Type) return known
  const message = new protobuf.Type(name)
  root.add(message)
  for (const member of type.proto ?? []) {
    if (member.kind === 'embedded') {
      message.add(new protobuf.Field(member.name, member.number, messageOf(root, member.struct()).name))
      continue
    }
    const { type: node, json } = member.field
    if (node.kind === 'map') message.add(new protobuf.MapField(json, member.number, 'string', typeOf(root, node.of)))
    else if (node.kind === 'list') message.add(new protobuf.Field(json, member.number, typeOf(root, node.of), 'repeated'))
    else message.add(new protobuf.Field(json, member.number, typeOf(root, node)))
  }
  return message
}

function typeOf(root: protobuf.Root, node: TypeNode): string {
  if (node.kind === 'scalar') return scalars[node.scalar] ?? 'bytes'
  if (node.kind === 'struct') return messageOf(root, node.struct()).name
  if (node.kind !== 'special') return 'bytes'
  const fields = special[node.special]
  if (fields === undefined) return 'bytes'
  if (root.get(node.special) === null) {
    const message = new protobuf.Type(node.special)
    for (const [name, id, type] of fields) message.add(new protobuf.Field(name, id, type))
    root.add(message)
  }
  return node.special
}

function nameOf(name: string): string {
  return name.replace(/[^A-Za-z0-9]/g, '_')
}
