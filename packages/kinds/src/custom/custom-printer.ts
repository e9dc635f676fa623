import { type ApiObject, type DeepReadonly, type JsonValue, parseTime } from '@krmkit/meta'
import { goNumber } from '@krmkit/meta/go-text'
import { stringifyJson } from '@krmkit/schema'
import type { Cell, Column, Printer } from '../interfaces.ts'
import { nameColumn } from '../printers/columns.ts'
import { humanDuration } from '../printers/duration.ts'
import type { CustomResourceColumnDefinition } from '../types/apiextensions-v1.generated.ts'
import { jsonPath } from './json-path.ts'

/** Tables of custom resources: Name, then the columns of the definition, or Age if it has none. */

const age: CustomResourceColumnDefinition = {
  name: 'Age',
  type: 'date',
  description: 'How long ago the server created the object.',
  jsonPath: '.metadata.creationTimestamp',
}

/** The Scale of a custom resource. Replicas of zero are absent in it, so their cell is empty. */
export const customScalePrinter = customPrinter([
  { name: 'Desired', type: 'integer', description: 'Desired number of replicas.', jsonPath: '.spec.replicas' },
  { name: 'Available', type: 'integer', description: 'Current number of replicas.', jsonPath: '.status.replicas' },
  age,
])

/** As in kube-apiserver, columns end before the first whose path is malformed. */
export function customPrinter(columns: DeepReadonly<CustomResourceColumnDefinition[]> | undefined): Printer {
  const stated = columns === undefined || columns.length === 0 ? [age] : columns
  const paths = stated.map(({ jsonPath: text }) => jsonPath(text))
  const end = paths.indexOf(undefined)
  const shown = end < 0 ? stated : stated.slice(0, end)
  const cells = shown.map(({ type }, i) => (object: DeepReadonly<ApiObject>, now: number): Cell => {
    const value = paths[i]?.(object)[0]
    return value === undefined ? null : cellOf(value, type, now)
  })
  return {
    columns: [nameColumn, ...shown.map(columnOf)],
    cells: (object, { now }) => [object.metadata.name ?? '', ...cells.map((cell) => cell(object, now))],
  }
}

function columnOf({
  name,
  type,
  format,
  description,
  priority,
  jsonPath: path,
}: DeepReadonly<CustomResourceColumnDefinition>): Column {
  return {
    name,
    type: type as Column['type'],
    ...(format === undefined || format === '' ? {} : { format }),
    description: description === undefined || description === '' ? `Column of the definition, at ${path}.` : description,
    priority: priority ?? 0,
  }
}

function cellOf(value: JsonValue, type: string, now: number): Cell {
  switch (type) {
    case 'string':
      return textOf(value)
    case 'integer':
      return typeof value === 'number' || typeof value === 'bigint' ? integerOf(value) : null
    case 'number':
      return typeof value === 'number' || typeof value === 'bigint' ? Number(value) : null
    case 'boolean':
      return typeof value === 'boolean' ? value : null
    case 'date':
      return typeof value === 'string' ? ageOf(value, now) : null
    default:
      return null
  }
}

/** A number outside of 64 bits becomes the least one, as in Go on most processors. */
function integerOf(value: number | bigint): number | bigint {
  if (typeof value === 'number' && Number.isSafeInteger(Math.trunc(value))) return Math.trunc(value)
  const whole = typeof value === 'bigint' ? value : BigInt(Math.trunc(value))
  return BigInt.asIntN(64, whole) !== whole ? -(2n ** 63n) : whole
}

function textOf(value: JsonValue): string {
  if (typeof value === 'string') return value
  if (value === null) return '<no value>'
  if (typeof value === 'number') return storedNumber(value)
  return typeof value === 'object' ? stringifyJson(value) : String(value)
}

/** A number is an integer where its text in storage is one of 64 bits. */
function storedNumber(value: number): string {
  if (!Number.isInteger(value) || Math.abs(value) > 2 ** 63) return goNumber(value)
  const text = String(value)
  return BigInt.asIntN(64, BigInt(text)) === BigInt(text) ? text : goNumber(value)
}

function ageOf(text: string, now: number): string {
  if (text === '') return '<unknown>'
  try {
    return humanDuration(now - parseTime(text))
  } catch {
    return '<invalid>'
  }
}
