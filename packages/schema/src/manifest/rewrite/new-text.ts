import { stringifyJson } from '../../json/encode-json.direct.ts'
import type { YamlNode } from '../../yaml/nodes.ts'
import { printYaml } from '../../yaml/print-yaml.ts'
import { resolveScalar } from '../../yaml/resolve.ts'
import { isCollection, partsOf } from './source-tree.ts'

/** Prints values that the document did not contain. */

/** Prints a scalar or a flow collection on one line; undefined for strings that need several lines. */
export function inlineText(value: unknown): string | undefined {
  if (isCollection(value)) return flowText(value)
  if (typeof value === 'string' && value.includes('\n')) return undefined
  const [line, rest] = printYaml(value).split('\n')
  return rest === '' ? line : JSON.stringify(value)
}

/** Prints a scalar with the quotes of the scalar that it replaces. */
export function scalarLike(value: unknown, node: YamlNode, source: string): string | undefined {
  if (typeof value !== 'string' || value.includes('\n') || node.kind !== 'scalar' || node.plain) return inlineText(value)
  const quote = node.start === 0 ? '' : source.charAt(node.start - 1)
  if (quote === "'") return `'${value.replaceAll("'", "''")}'`
  return quote === '"' ? JSON.stringify(value) : inlineText(value)
}

/** Prints a member name. */
export function keyText(name: string): string {
  return inlineText(name) ?? JSON.stringify(name)
}

/** Returns the lines of a block scalar, without the line of its key. */
export function blockLines(name: string, text: string, column: number): string[] {
  const lines = printYaml({ [name]: text })
    .replace(/\n$/, '')
    .split('\n')
  const indent = ' '.repeat(column)
  return lines.map((line) => (line === '' ? '' : `${indent}${line}`))
}

/** Matches a plain word that also parses as itself inside a flow collection. */
const safeWord = /^[A-Za-z][\w./-]*$/

function flowText(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(flowText).join(', ')}]`
  if (isCollection(value)) {
    const members = partsOf(value).map(([name, part]) => `${flowText(name)}: ${flowText(part)}`)
    return members.length === 0 ? '{}' : `{ ${members.join(', ')} }`
  }
  if (typeof value !== 'string') return stringifyJson(value)
  return safeWord.test(value) && resolveScalar(value, '', true).type === 'text' ? value : JSON.stringify(value)
}
