import { DecodeError } from '../../errors.ts'
import { stringifyJson } from '../../json/encode-json.ts'
import { parseJson } from '../../json/parse-json.ts'
import { JsonSyntaxError, readJsonNodes } from '../json-nodes.ts'
import { type ReadManifestOptions, readManifest } from '../manifest.ts'
import { splitYaml } from '../split.ts'
import { rewriteYaml } from './rewrite-yaml.ts'

/** The result of `rewriteManifest`. */
export interface RewrittenManifest {
  readonly text: string
  /** Documents, counted from 0, whose text cannot express the new value; they are unchanged. */
  readonly unchanged: readonly number[]
}

/**
 * Returns the new value of a document, or its argument where nothing changes.
 *
 * @param index number of the document, from 0, as in the result of `readManifest`.
 */
export type ChangeDocument = (value: unknown, index: number) => unknown

/**
 * Changes documents of a text and keeps the rest of it: comments, order, indentation, quotes and line ends. Members that are renamed or
 * moved take their comments along; comments of removed members stay near their place.
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
  const mark = text.startsWith('\ufeff') ? '\ufeff' : ''
  const source = text.slice(mark.length)
  const isJson = options.json === true || (/^\s*\{/.test(source) && isJsonText(source))
  const { text: written, unchanged } = isJson ? rewriteJson(source, change) : rewriteYamlDocuments(source, change)
  return { text: mark + written, unchanged }
}

function isJsonText(text: string): boolean {
  return readManifest(text, { json: true }).every(({ kind }) => kind === 'document')
}

function rewriteYamlDocuments(text: string, change: ChangeDocument): RewrittenManifest {
  const unchanged: number[] = []
  let result = ''
  let end = 0
  let index = 0
  for (const chunk of splitYaml(text)) {
    const start = text.indexOf(chunk.text, end)
    result += text.slice(end, start)
    end = start + chunk.text.length
    let given = index
    const written = rewriteYaml(chunk.text, (value) => {
      if (value === null) return value
      given = index++
      return change(value, given)
    })
    if (written === undefined) unchanged.push(given)
    result += written ?? chunk.text
  }
  return { text: result + text.slice(end), unchanged }
}

function rewriteJson(text: string, change: ChangeDocument): RewrittenManifest {
  let result = ''
  let at = 0
  for (let index = 0; /\S/.test(text.slice(at)); index++) {
    const end = endOfValue(text, at)
    const piece = text.slice(at, end)
    const { value } = parseJson(piece)
    const changed = change(value, index)
    result += changed === value ? piece : `${/^\s*/.exec(piece)?.[0] ?? ''}${jsonLike(changed, piece.trimStart())}`
    at = end
  }
  return { text: result + text.slice(at), unchanged: [] }
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
