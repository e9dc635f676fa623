import type { Change } from '@krmkit/fieldmanager'
import type { JsonValue } from '@krmkit/meta'
import { printYaml } from '@krmkit/schema'
import { printable } from 'krmkit/validate'
import type { Paint } from '../offline/paint.ts'
import { lineDiff } from './line-diff.ts'

/** Formats changes: short values on one line, others as YAML. */
export function changeLines(changes: readonly Change[], paint: Paint): string[] {
  return changes.flatMap((change) => {
    const { kind, before, after } = change
    const field = printable(change.field)
    if (kind === 'added') return valueLines('+', field, after as JsonValue, paint)
    if (kind === 'removed') return valueLines('-', field, before as JsonValue, paint)
    const head = `${paint.yellow('~')} ${field}:`
    if (isShort(before) && isShort(after)) return [`${head} ${paint.red(short(before))} -> ${paint.green(short(after))}`]
    return [
      head,
      ...lineDiff(textOf(before), textOf(after)).map(({ mark, text }) => `    ${painted(mark, `${mark} ${text}`, paint)}`),
    ]
  })
}

function valueLines(mark: '+' | '-', field: string, value: JsonValue, paint: Paint): string[] {
  if (isShort(value)) return [painted(mark, `${mark} ${field}: ${short(value)}`, paint)]
  return [painted(mark, `${mark} ${field}:`, paint), ...textOf(value).map((text) => painted(mark, `${mark}     ${text}`, paint))]
}

function painted(mark: string, text: string, paint: Paint): string {
  return mark === '+' ? paint.green(text) : mark === '-' ? paint.red(text) : mark === '@' ? paint.cyan(text) : text
}

const maxLength = 100

function isShort(value: JsonValue | undefined): boolean {
  if (typeof value === 'string') return value.length <= maxLength && !value.includes('\n')
  return typeof value !== 'object' || value === null || Object.keys(value).length === 0
}

function short(value: JsonValue | undefined): string {
  return value === undefined
    ? 'nothing'
    : typeof value === 'string'
      ? printable(JSON.stringify(value))
      : printYaml(value).trimEnd()
}

/** The lines of a string, or of the YAML of another value. */
function textOf(value: JsonValue | undefined): string[] {
  if (value === undefined) return []
  const text = typeof value === 'string' ? value : printYaml(value)
  return text.replace(/\n$/, '').split('\n').map(printable)
}
