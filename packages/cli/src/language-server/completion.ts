import { formatApiVersion, type JsonValue } from '@krmkit/meta'
import { type MemberShape, type OfflineKinds, shapeAt, type ValueShape, valueShape } from 'krmkit/validate'
import { type CompletionItem, CompletionItemKind } from './connection.ts'
import type { CursorContext } from './cursor-context.ts'
import { fieldText } from './field-text.ts'
import { shapeOfKind } from './object-types.ts'

/** What can be typed at the cursor: fields, allowed values, kinds and versions. */

export function completionsAt(context: CursorContext, kinds: OfflineKinds): CompletionItem[] {
  const { steps, name } = context
  if (steps.length === 0 && (name === 'kind' || name === 'apiVersion')) return kindItems(context, kinds)
  const shape = shapeOfKind(context.object.get('apiVersion') ?? '', context.object.get('kind') ?? '', kinds)
  if (shape === undefined) return steps.length === 0 && name === undefined ? firstMembers(context) : []
  const found = shapeAt(shape, steps)
  const holder = found === undefined ? undefined : valueShape(found)
  if (holder === undefined) return []
  if (name !== undefined) return valueItems(shapeAt(holder, [name]), context)
  if (holder.members !== undefined) return memberItems(holder.members(), context)
  return valueItems(holder, context)
}

/** The members of an object whose kind is not known yet. */
function firstMembers(context: CursorContext): CompletionItem[] {
  const names = ['apiVersion', 'kind', 'metadata'].filter((name) => !context.siblings.has(name))
  const type = (name: string): ValueShape => ({ type: name === 'metadata' ? 'object' : 'string' })
  const members = names.map((name): [string, MemberShape] => [name, { name, value: type(name), required: name !== 'metadata' }])
  return memberItems(new Map(members), context)
}

function memberItems(members: ReadonlyMap<string, MemberShape>, context: CursorContext): CompletionItem[] {
  return [...members.values()]
    .filter(({ name }) => !context.siblings.has(name))
    .map((member) => ({
      label: member.name,
      kind: CompletionItemKind.Property,
      detail: member.value.type,
      documentation: { kind: 'markdown', value: fieldText(member.name, member) },
      // Required members first.
      sortText: `${member.required ? 0 : 1}${member.name}`,
      textEdit: { range: rangeOf(context), newText: memberText(member, context) },
    }))
}

function memberText({ name, value }: MemberShape, { json, quoted, hasColon, indent }: CursorContext): string {
  const isScalar = value.members === undefined && value.items === undefined && value.values === undefined
  if (json) {
    const text = quoted === true ? name : `"${name}"`
    return hasColon || quoted === true ? text : `${text}: `
  }
  if (hasColon) return name
  if (isScalar) return `${name}: `
  const space = ' '.repeat(indent)
  return value.items === undefined ? `${name}:\n${space}  ` : `${name}:\n${space}- `
}

function valueItems(shape: MemberShape | ValueShape | undefined, context: CursorContext): CompletionItem[] {
  if (shape === undefined) return []
  const { allowed = [] } = valueShape(shape)
  const preset = 'value' in shape ? shape.default : undefined
  return allowed.map((value) => ({
    label: plainText(value),
    kind: CompletionItemKind.EnumMember,
    ...(value === preset ? { detail: 'default' } : {}),
    textEdit: { range: rangeOf(context), newText: valueText(value, context) },
  }))
}

/** Versions of the kind, or kinds of the version, where the object has the other one. */
function kindItems(context: CursorContext, kinds: OfflineKinds): CompletionItem[] {
  const other = context.name === 'kind' ? 'apiVersion' : 'kind'
  const given = context.object.get(other) ?? ''
  const named = kinds
    .all()
    .filter(({ resource }) => resource.virtual !== true)
    .map(({ kind }) => ({ apiVersion: formatApiVersion(kind), kind: kind.kind }))
  const fitting = named.filter((each) => each[other] === given)
  const shown = fitting.length > 0 ? fitting : named
  const texts = new Map<string, string[]>()
  for (const each of shown) {
    const text = each[context.name as 'apiVersion' | 'kind']
    texts.set(text, [...(texts.get(text) ?? []), each[other]])
  }
  return [...texts].map(([text, others]) => ({
    label: text,
    kind: context.name === 'kind' ? CompletionItemKind.Class : CompletionItemKind.Module,
    ...(context.name === 'kind' ? { detail: others.join(', ') } : {}),
    textEdit: { range: rangeOf(context), newText: valueText(text, context) },
  }))
}

function plainText(value: JsonValue): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}

function valueText(value: JsonValue, { json, quoted }: CursorContext): string {
  if (typeof value !== 'string') return JSON.stringify(value)
  // YAML reads some plain words as other values.
  const needsQuotes = json || value === '' || /^(?:y|n|yes|no|on|off|true|false|null|~|[\d.+-].*)$/i.test(value)
  return needsQuotes && quoted !== true ? JSON.stringify(value) : value
}

/** The word at the cursor; an apiVersion has a slash in it. */
function rangeOf({ replace: { line, from, to } }: CursorContext): { start: Place; end: Place } {
  return { start: { line, character: from }, end: { line, character: to } }
}

interface Place {
  readonly line: number
  readonly character: number
}
