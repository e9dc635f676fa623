/** Values as indented JSON, line by line, as Go marshals them: members of structs have the names of their fields. */

import type { Work } from '@krmkit/base/work'
import type { GoField, GoType } from './go-types.ts'
import { type GoValue, isZero, quantityOf } from './go-value.ts'
import type { Meter } from './meter.ts'

type Fields = readonly GoValue[]

/** What stands before and after a value: the indentation and its name, and a comma. */
interface Place {
  readonly depth: number
  readonly start: string
  readonly end: string
}

export class JsonLines {
  readonly lines: string[] = []
  readonly #meter: Meter

  constructor(meter: Meter) {
    this.#meter = meter
  }

  *add(type: GoType, value: GoValue, place: Place = { depth: 0, start: '', end: '' }): Work {
    if (this.#meter.isDue()) yield
    const line = lineOf(type, value)
    const { start, end, depth } = place
    if (line !== undefined) this.lines.push(start + line + end)
    else if (type.kind === 'pointer') yield* this.add(type.element, value, place)
    else {
      const parts = [...partsOf(type, value as object)]
      const [open, close] = type.kind === 'slice' ? ['[', ']'] : ['{', '}']
      if (parts.length === 0) {
        this.lines.push(start + open + close + end)
        return
      }
      this.lines.push(start + open)
      for (const [i, part] of parts.entries()) {
        const label = part.name === undefined ? '' : `${jsonText(part.name)}: `
        const inner = { depth: depth + 1, start: ' '.repeat(depth + 1) + label, end: i === parts.length - 1 ? '' : ',' }
        yield* this.add(part.type, part.value, inner)
      }
      this.lines.push(' '.repeat(depth) + close + end)
    }
  }
}

/** The text of a value that is one line. */
function lineOf(type: GoType, value: GoValue): string | undefined {
  if (value === undefined) return 'null'
  if (type.kind === 'quantity') return jsonText(quantityOf(value).toString())
  if (type.name === 'v1.Time') return (value as Fields)[0] === '' ? 'null' : jsonText(String((value as Fields)[0]))
  if (type.name === 'intstr.IntOrString') {
    const [kind, number, text] = value as Fields
    return kind === 0 ? String(number) : jsonText(String(text))
  }
  if (type.kind === 'pointer' || typeof value === 'object') return undefined
  return typeof value === 'string' ? jsonText(value) : String(value)
}

interface Part {
  readonly name?: string
  readonly type: GoType
  readonly value: GoValue
}

function* partsOf(type: GoType, value: object): Generator<Part> {
  if (type.kind === 'slice') for (const item of value as Fields) yield { type: type.element, value: item }
  else if (type.kind === 'map')
    for (const [name, entry] of value as ReadonlyMap<string, GoValue>) yield { name, type: type.element, value: entry }
  else yield* membersOf(type, value as Fields)
}

/** The members of a struct, with those of embedded structs. */
function* membersOf(type: GoType, values: Fields): Generator<Part> {
  for (const [i, field] of type.fields.entries()) {
    const value = values[i]
    if (field.isEmbedded) yield* membersOf(field.type, value as Fields)
    else if (!(field.omitsEmpty && isEmpty(field, value))) yield { name: field.json, type: field.type, value }
  }
}

function isEmpty({ type }: GoField, value: GoValue): boolean {
  if (type.kind === 'slice') return value === undefined || (value as Fields).length === 0
  if (type.kind === 'map') return value === undefined || (value as ReadonlyMap<string, GoValue>).size === 0
  return isZero(type, value)
}

/** A string as Go's encoding/json writes it. */
function jsonText(text: string): string {
  return JSON.stringify(text).replace(/[<>&\u2028\u2029]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`)
}
