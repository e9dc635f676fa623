import { maxDepth } from '../decode/context.ts'
import type { StructPlan } from '../decode/field-plan.ts'
import { planOf } from '../decode/plan.ts'
import { buildObject } from '../decode/struct.ts'
import type { ProtoMember, StructType, TypeNode } from '../interfaces.ts'
import { DecodeError, SchemaError } from '../schema-error.ts'
import { scalarCodec, type ValueCodec } from './codec.ts'
import { listMember, type MemberPlan, mapMember, singleMember, wrappedListCodec } from './members.ts'
import { readEmbedded, readMembers, readMessage } from './read-message.direct.ts'
import * as paced from './read-message.ts'
import { type EmbeddedForm, type MessagePlan, OpenMessage } from './read-message.ts'
import { specialCodec } from './special.ts'
import { bytesTag, lengthDelimited, readEnd, type WireWriter } from './wire.ts'

/**
 * Messages by field number, as Go's generated code writes them: ascending numbers, maps sorted by key, non-pointer fields always
 * present.
 */

/** A cache: entries depend on the type only. */
const plans = new WeakMap<StructType, MessagePlan>()

export function messageOf(type: StructType): MessagePlan {
  const known = plans.get(type)
  if (known !== undefined) return known
  if (type.proto === undefined) throw new SchemaError({ code: 'NoProtobuf', message: `${type.name} has no protobuf form` })
  const plan = messagePlan(type, type.proto, planOf(type))
  plans.set(type, plan)
  return plan
}

function messagePlan(type: StructType, members: readonly ProtoMember[], struct: StructPlan): MessagePlan {
  const made = members.map((member) =>
    member.kind === 'embedded' ? embeddedMember(member, struct) : fieldMember(member, type, struct),
  )
  return { name: type.typeName, struct, members: made, byNumber: new Map(made.map((member) => [member.number, member])) }
}

/**
 * Writes the fields of a canonical object.
 *
 * @throws SchemaError `NoProtobuf` for types without protobuf.
 */
export function writeMessage(type: StructType, object: Record<string, unknown>, writer: WireWriter): void {
  for (const member of messageOf(type).members) member.write(writer, object)
}

/** Member for an inline struct: part of the same JSON object, but a separate message. */
function embeddedMember(member: ProtoMember & { kind: 'embedded' }, struct: StructPlan): MemberPlan {
  const inner = member.struct()
  const plan = messagePlan(inner, inner.proto ?? [], struct)
  const form: EmbeddedForm = { plan, name: member.name }
  const tag = bytesTag(member.number)
  return {
    number: member.number,
    write(writer, object) {
      writer.uint32(tag).fork()
      for (const part of plan.members) part.write(writer, object)
      writer.ldelim()
    },
    read: (reader, wire, slots, limit, depth) => readEmbedded(form, reader, wire, slots, limit, depth),
    paced: { read: (reader, wire, slots, limit, depth) => paced.readEmbedded(form, reader, wire, slots, limit, depth) },
  }
}

function fieldMember(member: ProtoMember & { kind: 'field' }, type: StructType, struct: StructPlan): MemberPlan {
  const field = struct.byName.get(member.field.json)
  if (field === undefined)
    throw new SchemaError({ code: 'BadFacts', message: `${type.name} lacks its field ${member.field.json}` })
  const node = member.field.type
  if (node.kind === 'list' && !node.protoWrapped) return listMember(member.number, field, valueCodec(node.of))
  if (node.kind === 'map' && !node.protoWrapped) return mapMember(member.number, field, valueCodec(node.of))
  return singleMember(member.number, field, valueCodec(node))
}

function valueCodec(node: TypeNode): ValueCodec {
  switch (node.kind) {
    case 'scalar': {
      const codec = scalarCodec(node.scalar)
      if (codec === undefined)
        throw new SchemaError({ code: 'NoProtobuf', message: `a value of type ${node.scalar} has no protobuf form` })
      return codec
    }
    case 'struct':
      return structCodec(node.struct)
    case 'special':
      return specialCodec(node, structCodec)
    case 'list':
      return wrappedListCodec(valueCodec(node.of))
    case 'map':
      throw new SchemaError({ code: 'NoProtobuf', message: 'a map of maps has no protobuf form' })
  }
}

function structCodec(struct: () => StructType): ValueCodec {
  return {
    wire: lengthDelimited,
    write(writer, value) {
      writer.fork()
      writeMessage(struct(), (value ?? {}) as Record<string, unknown>, writer)
      writer.ldelim()
    },
    read: (reader, limit, depth) => readMessage(messageOf(struct()), reader, readEnd(reader, limit), depth),
    paced: { read: (reader, limit, depth) => paced.readMessage(messageOf(struct()), reader, readEnd(reader, limit), depth) },
    merge(previous, reader, limit, depth) {
      if (depth > maxDepth) throw new DecodeError({ code: 'Depth', message: 'exceeded max depth' })
      const open = previous instanceof OpenMessage ? previous : new OpenMessage(messageOf(struct()), previous as object)
      readMembers(open.plan, reader, open.slots, readEnd(reader, limit), depth)
      return open
    },
    zero: () => buildObject(planOf(struct()), []),
  }
}
