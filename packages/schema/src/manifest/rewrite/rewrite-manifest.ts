import { stringifyJson } from '../../json/encode-json.direct.ts'
import { parseJson } from '../../json/parse-json.direct.ts'
import { DecodeError } from '../../schema-error.ts'
import { JsonSyntaxError, readJsonNodes } from '../json-nodes.ts'
import { type ReadManifestOptions, readManifest } from '../manifest.ts'
import { opensJson, splitManifest } from '../split.ts'
import { rewriteYaml } from './rewrite-yaml.ts'

/** The result of `rewriteManifest`. */
export interface RewrittenManifest {
  readonly text: string
  /** Documents, counted from 0, whose text cannot express the new value; they are unchanged. */
  readonly unchanged: readonly number[]
}

/**
 * Returns the new value of a document, or its argument when nothing changes.
 *
 * @param index number of the document, from 0, as in the result of `readManifest`.
 */
export type ChangeDocument = (value: unknown, index: number) => unknown

/**
 * Changes documents of a text and keeps the rest of it: comments, order, indentation, quotes and line ends. Comments of
 * renamed or moved members move along; comments of removed members stay near their original position.
 *
 * @param change must not modify its argument.
 * @throws DecodeError `Syntax`, `Yaml`, `Depth` or `Aliasing` for a text that `readManifest` reports errors for.
 * @example
 * import { rewriteManifest } from '@krmkit/schema/manifest'
 * const text = '# the web\nkind: Pod # one\nmetadata: {name: web}\n'
 * rewriteManifest(text, (value) => ({ ...(value as object), kind: 'Job' })).text
 * // '# the web\nkind: Job # one\nmetadata: {name: web}\n'
 */
export function rewriteManifest(text: string, change: ChangeDocument, options: ReadManifestOptions = {}): RewrittenManifest {
  const unchanged: number[] = []
  let result = ''
  let end = 0
  let index = 0
  const next = (value: unknown) => change(value, index++)
  for (const chunk of splitManifest(text)) {
    if ('badSeparator' in chunk) throw new DecodeError({ code: 'Yaml', message: `invalid separator: ${chunk.badSeparator}` })
    const { text: source, start } = chunk
    const first = index
    const isJson = options.json === true || (opensJson(source) && isJsonText(source))
    const written = isJson ? rewriteJson(source, next) : rewriteYaml(source, (value) => (value === null ? value : next(value)))
    if (written === undefined) unchanged.push(first)
    result += text.slice(end, start) + (written ?? source)
    end = start + source.length
  }
  return { text: result + text.slice(end), unchanged }
}

function isJsonText(text: string): boolean {
  return readManifest(text, { json: true }).every(({ kind }) => kind === 'document')
}

function rewriteJson(text: string, change: (value: unknown) => unknown): string {
  let result = ''
  let at = 0
  while (/\S/.test(text.slice(at))) {
    const end = endOfValue(text, at)
    const piece = text.slice(at, end)
    const { value } = parseJson(piece)
    const changed = change(value)
    result += changed === value ? piece : `${/^\s*/.exec(piece)?.[0] ?? ''}${jsonLike(changed, piece.trimStart())}`
    at = end
  }
  return result + text.slice(at)
}

function endOfValue(text: string, at: number): number {
  try {
    return readJsonNodes(text, at).end
  } catch (error) {
    if (!(error instanceof JsonSyntaxError)) throw error
    throw new DecodeError({ code: 'Syntax', message: error.message })
  }
}

/** JSON with the indentation of the text that it replaces. */
function jsonLike(value: unknown, text: string): string {
  const indent = /^[{[]\r?\n([ \t]+)/.exec(text)?.[1]
  if (indent === undefined) return stringifyJson(value)
  const printed = JSON.stringify(value, null, indent)
  return text.includes('\r\n') ? printed.replaceAll('\n', '\r\n') : printed
}
