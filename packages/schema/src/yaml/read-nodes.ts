import { EVENT_ID, type Event, getScalarValue, parseEvents, SCALAR_STYLE, YAMLException } from 'js-yaml'
import { DecodeError } from '../errors.ts'
import type { MappingYaml, SequenceYaml, YamlNode } from './nodes.ts'

/**
 * Reads the first document of a text as a tree. The only module that uses the YAML library; translates its errors into those of the
 * stock server where they correspond.
 */

/** Maximum nesting. Differs: the stock server allows 10 000. */
const maxDepth = 1000

export interface ReadNodes {
  /** Absent for an empty text. */
  readonly root: YamlNode | undefined
  /** The text that node offsets refer to: the input with repairs that preserve its lines. */
  readonly source: string
}

/** @throws DecodeError `Yaml`, `Depth` */
export function readNodes(text: string): ReadNodes {
  let source = firstDocument(text)
  let spent = 0
  for (;;) {
    try {
      return { root: new TreeBuilder(source, parseEvents(source, { maxDepth })).build(), source }
    } catch (error) {
      spent += source.length
      const next = spent > repairBudget ? undefined : repaired(error, source)
      if (next === undefined) throw yamlError(error, source)
      source = next
    }
  }
}

/** Maximum characters to re-read for repairs. */
const repairBudget = 8_000_000

/**
 * Repairs what the library rejects and the stock server accepts; `undefined` when the error has another cause.
 *
 * - Text after a flow or quoted document is ignored, so it is cut off.
 * - Lines inside brackets and quotes need no indentation. Indenting them changes nothing else.
 */
function repaired(error: unknown, source: string): string | undefined {
  if (!(error instanceof YAMLException)) return undefined
  const at = error.mark?.position ?? 0
  if (error.reason === 'end of the stream or a document separator is expected') {
    return /^\s*[[{"']/.test(source) && at > 0 && at < source.length ? source.slice(0, at) : undefined
  }
  if (error.reason !== 'deficient indentation') return undefined
  const before = source.slice(0, source.lastIndexOf('\n', at - 1) + 1)
  return before + ' '.repeat(deepestIndent(before) + 1) + source.slice(before.length)
}

function deepestIndent(text: string): number {
  let deepest = 0
  for (const [indent] of text.matchAll(/^ *(?:[-?:] +)*/gm)) deepest = Math.max(deepest, indent.length)
  return deepest
}

/** Cuts off everything after the first document. */
function firstDocument(text: string): string {
  const marker = /^(?:---|\.\.\.)(?=[ \t\r\n]|$)/gm
  for (let match = marker.exec(text); match !== null; match = marker.exec(text)) {
    if (hasContent(text.slice(0, match.index))) return text.slice(0, match.index)
    if (match[0] === '---') {
      const next = marker.exec(text)
      return next === null ? text : text.slice(0, next.index)
    }
  }
  return text
}

function hasContent(text: string): boolean {
  return /^[^\S\r\n]*[^\s#%\ufeff]/m.test(text)
}

function yamlError(error: unknown, source: string): DecodeError {
  if (error instanceof RangeError)
    return new DecodeError({ code: 'Depth', message: `${yamlErrorPrefix}exceeded max depth of ${maxDepth}` })
  if (!(error instanceof YAMLException)) throw error
  const { reason, mark: position } = error
  const mark = position === null || position === undefined ? undefined : { line: position.line, column: position.column }
  if (reason.startsWith('nesting exceeded'))
    return new DecodeError({ code: 'Depth', message: `${yamlErrorPrefix}exceeded max depth of ${maxDepth}`, mark })
  if (/non-printable|null byte|valid JSON character/.test(reason))
    return new DecodeError({ code: 'Yaml', message: `${yamlErrorPrefix}control characters are not allowed`, mark })
  const at = position?.position ?? 0
  const { message, scanner } = describe(reason, source, at)
  // Go counts lines from 0 for misplaced tokens and from 1 for characters that cannot start a token, and omits line 0.
  const marked = reason.startsWith('unexpected end') && reason.includes('flow') ? lineCount(source) : (mark?.line ?? 0)
  const line = marked === 0 ? 0 : marked + (scanner ? 1 : 0)
  return new DecodeError({
    code: 'Yaml',
    message: `${yamlErrorPrefix}${line === 0 ? '' : `line ${line}: `}${message}`,
    mark,
  })
}

/** Prefix of every YAML error. */
export const yamlErrorPrefix = 'error converting YAML to JSON: yaml: '

/** The number of lines, of which the last may have no end. */
function lineCount(source: string): number {
  const lines = source.split('\n')
  return lines.length - (lines.at(-1)?.trim() === '' ? 1 : 0)
}

interface Description {
  readonly message: string
  readonly scanner: boolean
}

const scanner = (message: string): Description => ({ message, scanner: true })
const parser = (message: string): Description => ({ message, scanner: false })
const noToken = 'found character that cannot start any token'

/** Problems that the library describes in one way, by the beginning of its words. */
const sameProblems: readonly (readonly [reason: string, Description])[] = [
  ['expected the node content', parser('did not find expected node content')],
  ["expected ':'", scanner("could not find expected ':'")],
  ['can not read a block', scanner("could not find expected ':'")],
  ['unknown escape sequence', scanner('found unknown escape character')],
  ['expected hexadecimal character', scanner('did not find expected hexdecimal number')],
  ['a line break is expected', scanner('did not find expected comment or line break')],
  ['undeclared tag', parser('found undefined tag handle')],
]

function describe(reason: string, source: string, at: number): Description {
  if (reason.startsWith('tab characters')) return scanner(tabProblem(source, at))
  if (reason.includes('within a flow collection') || reason.startsWith('missed comma')) {
    if (/[{[,:]\s*$/.test(source.slice(0, at)) && at >= source.trimEnd().length)
      return parser('did not find expected node content')
    return parser(`did not find expected ',' or '${openBracket(source, at) === '[' ? ']' : '}'}'`)
  }
  if (reason.includes('quoted scalar')) return scanner('found unexpected end of stream')
  if (reason.startsWith('directives end mark') && /^%(?!YAML|TAG)/m.test(source)) return scanner('found unknown directive name')
  if (reason.startsWith('bad indentation') || reason.startsWith('end of the stream')) return misplaced(reason, source, at)
  return sameProblems.find(([words]) => reason.startsWith(words))?.[1] ?? scanner(reason)
}

/** A tab ends a plain scalar of several lines, and cannot indent a block scalar. */
function tabProblem(source: string, at: number): string {
  const before = source.slice(0, source.lastIndexOf('\n', at - 1) + 1).trimEnd()
  if (/[|>][-+\d]*$/.test(before)) return 'found a tab character where an indentation space is expected'
  return before === '' || before.endsWith(':') ? noToken : 'found a tab character that violates indentation'
}

/** Something that continues neither the collection around it nor the document. */
function misplaced(reason: string, source: string, at: number): Description {
  const char = source.charAt(at)
  const line = source.slice(source.lastIndexOf('\n', at - 1) + 1)
  if (char !== '' && '}],'.includes(char)) return parser('did not find expected node content')
  if ((char !== '' && '@`%'.includes(char)) || /^[ -]*\t/.test(line)) return scanner(noToken)
  const isSequence = reason.startsWith('bad') ? reason.includes('sequence') : /^\s*-\s/.test(source)
  if (isSequence) return parser("did not find expected '-' indicator")
  return reason.startsWith('bad') || char === ':'
    ? scanner('mapping values are not allowed in this context')
    : parser('did not find expected key')
}

/** The innermost open bracket before `at`; an approximation that ignores quotes. */
function openBracket(source: string, at: number): string {
  let depth = 0
  for (let i = at - 1; i >= 0; i--) {
    const char = source.charAt(i)
    if (char === ']' || char === '}') depth++
    else if ((char === '[' || char === '{') && depth-- === 0) return char
  }
  return '{'
}

const coreTags = 'tag:yaml.org,2002:'

class TreeBuilder {
  readonly #source: string
  readonly #events: readonly Event[]
  readonly #handles = new Map<string, string>([['!!', coreTags]])
  readonly #anchors = new Map<string, YamlNode>()
  #last = 0

  constructor(source: string, events: readonly Event[]) {
    this.#source = source
    this.#events = events
  }

  build(): YamlNode | undefined {
    const open: (SequenceYaml | MappingYaml)[] = []
    let root: YamlNode | undefined
    for (const event of this.#events) {
      if (event.type === EVENT_ID.DOCUMENT) {
        for (const directive of event.directives)
          if (directive.kind === 'tag') this.#handles.set(directive.handle, directive.prefix)
        continue
      }
      if (event.type === EVENT_ID.POP) {
        if (open.pop() === undefined) break
        continue
      }
      const node = this.#node(event)
      root ??= node
      open[open.length - 1]?.items.push(node)
      if (node.kind === 'sequence' || node.kind === 'mapping') open.push(node)
    }
    return root
  }

  #node(event: Exclude<Event, { type: typeof EVENT_ID.DOCUMENT | typeof EVENT_ID.POP }>): YamlNode {
    if (event.type === EVENT_ID.ALIAS) {
      const name = this.#source.slice(event.anchorStart, event.anchorEnd)
      const target = this.#anchors.get(name)
      if (target === undefined)
        throw new DecodeError({ code: 'Yaml', message: `${yamlErrorPrefix}unknown anchor '${name}' referenced` })
      return { kind: 'alias', start: event.anchorStart, name, target }
    }
    const node = this.#content(event)
    if (event.anchorStart >= 0) this.#anchors.set(this.#source.slice(event.anchorStart, event.anchorEnd), node)
    return node
  }

  #content(event: Extract<Event, { tagStart: number }>): YamlNode {
    const tag = event.tagStart < 0 ? '' : this.#fullTag(this.#source.slice(event.tagStart, event.tagEnd))
    if (event.type !== EVENT_ID.SCALAR) {
      this.#last = event.start
      return { kind: event.type === EVENT_ID.SEQUENCE ? 'sequence' : 'mapping', start: event.start, tag, items: [] }
    }
    // The text of a block starts below its header, and an empty scalar has no offset: use the line of the previous node.
    const block = event.style === SCALAR_STYLE.LITERAL_BLOCK || event.style === SCALAR_STYLE.FOLDED_BLOCK
    const placeless = block || event.valueStart < 0
    const start = placeless ? this.#last : event.valueStart
    this.#last = start
    const end = placeless ? start : event.valueEnd
    return {
      kind: 'scalar',
      start,
      end,
      tag,
      text: getScalarValue(this.#source, event),
      plain: event.style === SCALAR_STYLE.PLAIN,
    }
  }

  #fullTag(written: string): string {
    if (written.startsWith('!<')) return written.slice(2, -1)
    const end = written.indexOf('!', 1)
    const handle = end < 0 ? '!' : written.slice(0, end + 1)
    const mapped = this.#handles.get(handle)
    return mapped === undefined || written === '!' ? written : mapped + decodeUri(written.slice(handle.length))
  }
}

function decodeUri(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
