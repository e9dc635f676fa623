// Derived from write-json.ts by `npm run direct`: do not edit.

import { memberNames } from '@krmkit/base/work'
import { sortKeys } from './shape.direct.ts'
import { isContainer, scalarJson, startsWithIndex, type TextParts } from './write-json.ts'

/** Writes a value without HTML escapes. Omits `undefined` members. */
export function writeJson(value: unknown, parts: TextParts): void {
  if (!isContainer(value)) parts.push(scalarJson(value))
  else if (Array.isArray(value)) writeList(value, parts)
  else writeObject(value, parts)
}

function writeList(list: readonly unknown[], parts: TextParts): void {
  let separator = '['

  for (const element of list) {
    if (isContainer(element)) {
      parts.push(separator)
      writeJson(element, parts)
    } else parts.push(separator + scalarJson(element))
    separator = ','
  }
  parts.push(separator === ',' ? ']' : '[]')
}

function writeObject(object: Readonly<Record<string, unknown>>, parts: TextParts): void {
  const keys = memberNames(object)

  let separator = '{'

  for (const key of startsWithIndex(object, keys) ? sortKeys([...keys]) : keys) {
    const member = object[key]
    if (member === undefined) continue
    const start = `${separator}${JSON.stringify(key)}:`
    if (isContainer(member)) {
      parts.push(start)
      writeJson(member, parts)
    } else parts.push(start + scalarJson(member))
    separator = ','
  }
  parts.push(separator === ',' ? '}' : '{}')
}
