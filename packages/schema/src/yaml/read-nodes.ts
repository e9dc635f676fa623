import { Cursor, type UnreadableText } from './cursor.ts'
import type { MappingYaml, SequenceYaml, YamlNode } from './nodes.ts'
import type { Directive, ScannedTag } from './scan-properties.ts'
import { Scanner, type Token, type TokenType } from './scanner.ts'
import { yamlError, yamlErrorAt } from './yaml-error.ts'

/**
 * Reads the first document of a text as a tree, in one pass. A state machine over tokens, not recursion, because collections
 * may nest 10 000 levels deep.
 */

/** @returns undefined for an empty text. @throws DecodeError `Yaml`, `Depth` */
export function readNodes(text: string, unreadable?: UnreadableText): YamlNode | undefined {
  return new NodeReader(new Scanner(new Cursor(`${text}\0`, unreadable))).read()
}

/** States: what the state machine expects next. */
type State =
  | 'blockNode'
  | 'blockNodeOrEntries'
  | 'flowNode'
  | 'blockEntry'
  | 'indentlessEntry'
  | 'blockKey'
  | 'blockValue'
  | 'firstFlowEntry'
  | 'flowEntry'
  | 'pairKey'
  | 'pairValue'
  | 'pairEnd'
  | 'firstFlowKey'
  | 'flowKey'
  | 'flowValue'
  | 'flowMissingValue'
  | 'documentEnd'

interface Properties {
  anchor: string
  tag: string
  readonly start: number
  readonly line: number
}

const coreTags = 'tag:yaml.org,2002:'

class NodeReader {
  readonly #scanner: Scanner
  readonly #handles = new Map<string, string>()
  readonly #anchors = new Map<string, YamlNode>()
  readonly #open: (SequenceYaml | MappingYaml)[] = []
  /** States to return to after a node. */
  readonly #returns: State[] = ['documentEnd']
  #state: State = 'blockNode'
  #root: YamlNode | undefined

  constructor(scanner: Scanner) {
    this.#scanner = scanner
  }

  read(): YamlNode | undefined {
    if (!this.#startDocument()) return undefined
    while (this.#state !== 'documentEnd') this.#step()
    // A malformed token after the document makes the document invalid.
    this.#scanner.peek()
    return this.#root
  }

  /** @returns whether there is a document. */
  #startDocument(): boolean {
    const { type } = this.#scanner.peek()
    if (type === 'streamEnd') return false
    if (type === 'directive' || type === 'documentStart') {
      this.#readDirectives()
      const start = this.#scanner.peek()
      if (start.type !== 'documentStart') throw misplaced('did not find expected <document start>', start)
      const next = this.#skipTo()
      if (endsContent.has(next.type)) {
        this.#addEmpty(next)
        this.#leave()
      }
    }
    for (const [handle, prefix] of defaultHandles) if (!this.#handles.has(handle)) this.#handles.set(handle, prefix)
    return true
  }

  #readDirectives(): void {
    let version = false
    for (let token = this.#scanner.peek(); token.type === 'directive'; token = this.#skipTo()) {
      const directive = token.directive as Directive
      if (directive.name === 'TAG') {
        if (this.#handles.has(directive.handle)) throw misplaced('found duplicate %TAG directive', token)
        this.#handles.set(directive.handle, directive.prefix)
        continue
      }
      if (version) throw misplaced('found duplicate %YAML directive', token)
      if (directive.version !== '1.1') throw misplaced('found incompatible YAML document', token)
      version = true
    }
  }

  /** Skips a token. @returns the next one */
  #skipTo(): Token {
    this.#scanner.skip()
    return this.#scanner.peek()
  }

  #step(): void {
    switch (this.#state) {
      case 'blockNode':
        this.#node(true, false)
        return
      case 'blockNodeOrEntries':
        this.#node(true, true)
        return
      case 'flowNode':
        this.#node(false, false)
        return
      case 'blockEntry':
        this.#blockEntry()
        return
      case 'indentlessEntry':
        this.#indentlessEntry()
        return
      case 'blockKey':
        this.#blockKey()
        return
      case 'blockValue':
        this.#blockValue()
        return
      case 'firstFlowEntry':
        this.#flowEntry(true)
        return
      case 'flowEntry':
        this.#flowEntry(false)
        return
      case 'pairKey':
        this.#pairKey()
        return
      case 'pairValue':
        this.#value({ ends: endsPairValue, after: 'pairEnd' })
        return
      case 'pairEnd':
        this.#scanner.peek()
        this.#open.pop()
        this.#state = 'flowEntry'
        return
      case 'firstFlowKey':
        this.#flowKey(true)
        return
      case 'flowKey':
        this.#flowKey(false)
        return
      case 'flowValue':
        this.#value({ ends: endsFlowValue, after: 'flowKey' })
        return
      case 'flowMissingValue':
        this.#addEmpty(this.#scanner.peek())
        this.#state = 'flowKey'
    }
  }

  /** Leaves a node and returns to the state that follows it. */
  #leave(): void {
    this.#state = this.#returns.pop() as State
  }

  /** Reads a node, then continues with the state `after`. */
  #enter(state: State, after: State): void {
    this.#returns.push(after)
    this.#state = state
  }

  #add(node: YamlNode): void {
    const parent = this.#open[this.#open.length - 1]
    if (parent === undefined) this.#root = node
    else parent.items.push(node)
  }

  #addEmpty({ start, line }: Token, width = 0): void {
    this.#add({ kind: 'scalar', start: start + width, end: start + width, line, tag: '', text: '', plain: true })
  }

  #openCollection(kind: 'sequence' | 'mapping', { anchor, start, line }: Omit<Properties, 'tag'>): void {
    const node: SequenceYaml | MappingYaml = { kind, start, line, items: [] }
    if (anchor !== '') this.#anchors.set(anchor, node)
    this.#add(node)
    this.#open.push(node)
  }

  #close(): void {
    this.#open.pop()
    this.#leave()
    this.#scanner.skip()
  }

  #node(block: boolean, entries: boolean): void {
    const first = this.#scanner.peek()
    if (first.type === 'alias') {
      this.#alias(first)
      return
    }
    const properties: Properties = { anchor: '', tag: '', start: first.start, line: first.line }
    const token = this.#properties(first, properties)
    if (entries && token.type === '-') {
      this.#openCollection('sequence', { ...properties, start: token.start })
      this.#state = 'indentlessEntry'
      return
    }
    const collection = collections.get(token.type)
    if (token.type === 'scalar') this.#scalar(token, properties)
    else if (collection !== undefined && (block || collection.flow)) {
      this.#openCollection(collection.kind, { ...properties, start: token.start })
      this.#state = collection.state
      this.#scanner.skip()
    } else if (properties.anchor !== '' || properties.tag !== '') {
      this.#scalar(undefined, properties)
    } else {
      throw misplaced('did not find expected node content', token)
    }
  }

  #alias({ name = '', start, line }: Token): void {
    const target = this.#anchors.get(name)
    if (target === undefined) throw yamlError(`unknown anchor '${name}' referenced`)
    this.#add({ kind: 'alias', start, line, name, target })
    this.#leave()
    this.#scanner.skip()
  }

  /** Reads an anchor and a tag, in any order. @returns the token after them */
  #properties(first: Token, properties: Properties): Token {
    let token = first
    let tag: Token | undefined
    for (let at = 0; at < 2; at++) {
      if (token.type === 'anchor' && properties.anchor === '') properties.anchor = token.name as string
      else if (token.type === 'tag' && tag === undefined) tag = token
      else break
      token = this.#skipTo()
    }
    if (tag !== undefined) properties.tag = this.#fullTag(tag)
    return token
  }

  #fullTag(token: Token): string {
    const { handle, suffix } = token.tag as ScannedTag
    if (handle === '') return suffix
    const prefix = this.#handles.get(handle)
    if (prefix === undefined) throw misplaced('found undefined tag handle', token)
    return prefix + suffix
  }

  /** @param token absent for an empty node that has an anchor or tag */
  #scalar(token: Token | undefined, { anchor, tag, start: empty, line }: Properties): void {
    const { text, start, end } = token?.scalar ?? { text: '', start: empty, end: empty }
    const node: YamlNode = { kind: 'scalar', start, end, line, tag, text, plain: token?.plain ?? true }
    if (anchor !== '') this.#anchors.set(anchor, node)
    this.#add(node)
    this.#leave()
    if (token !== undefined) this.#scanner.skip()
  }

  #blockEntry(): void {
    const token = this.#scanner.peek()
    if (token.type === 'blockEnd') {
      this.#close()
      return
    }
    if (token.type !== '-') throw misplaced("did not find expected '-' indicator", token)
    const next = this.#skipTo()
    if (next.type === '-' || next.type === 'blockEnd') this.#addEmpty(token, 1)
    else this.#enter('blockNode', 'blockEntry')
  }

  #indentlessEntry(): void {
    const token = this.#scanner.peek()
    if (token.type !== '-') {
      this.#open.pop()
      this.#leave()
      return
    }
    const next = this.#skipTo()
    if (next.type === '-' || endsBlockValue.has(next.type)) this.#addEmpty(token, 1)
    else this.#enter('blockNode', 'indentlessEntry')
  }

  #blockKey(): void {
    const token = this.#scanner.peek()
    if (token.type === 'blockEnd') {
      this.#close()
      return
    }
    if (token.type !== 'key') throw misplaced('did not find expected key', token)
    const next = this.#skipTo()
    if (!endsBlockValue.has(next.type)) {
      this.#enter('blockNodeOrEntries', 'blockValue')
      return
    }
    this.#addEmpty(token)
    this.#state = 'blockValue'
  }

  #blockValue(): void {
    const token = this.#scanner.peek()
    if (token.type !== 'value') this.#addEmpty(token)
    else if (!endsBlockValue.has(this.#skipTo().type)) {
      this.#enter('blockNodeOrEntries', 'blockKey')
      return
    } else this.#addEmpty(token, 1)
    this.#state = 'blockKey'
  }

  #flowEntry(first: boolean): void {
    const token = this.#flowItem(first, ']')
    if (token.type === ']') {
      this.#close()
    } else if (token.type === 'key') {
      this.#openCollection('mapping', { anchor: '', start: token.start, line: token.line })
      this.#scanner.skip()
      this.#state = 'pairKey'
    } else {
      this.#enter('flowNode', 'flowEntry')
    }
  }

  /** The first token of an item, or the closing bracket. */
  #flowItem(first: boolean, close: ']' | '}'): Token {
    const token = this.#scanner.peek()
    if (first || token.type === close) return token
    if (token.type !== ',') throw misplaced(`did not find expected ',' or '${close}'`, token)
    return this.#skipTo()
  }

  #pairKey(): void {
    const token = this.#scanner.peek()
    if (token.type !== 'value' && !endsPairValue.has(token.type)) {
      this.#enter('flowNode', 'pairValue')
      return
    }
    // As in kube-apiserver, the token that ends an empty key is consumed, and is missing afterwards.
    this.#addEmpty(token, 1)
    this.#scanner.skip()
    this.#state = 'pairValue'
  }

  #flowKey(first: boolean): void {
    const token = this.#flowItem(first, '}')
    if (token.type === '}') {
      this.#close()
      return
    }
    if (token.type !== 'key') {
      this.#enter('flowNode', 'flowMissingValue')
      return
    }
    const next = this.#skipTo()
    if (next.type === 'value' || endsFlowValue.has(next.type)) {
      this.#addEmpty(next)
      this.#state = 'flowValue'
    } else {
      this.#enter('flowNode', 'flowValue')
    }
  }

  #value({ ends, after }: { readonly ends: ReadonlySet<TokenType>; readonly after: State }): void {
    const token = this.#scanner.peek()
    if (token.type !== 'value') {
      this.#addEmpty(token)
      this.#state = after
      return
    }
    const next = this.#skipTo()
    if (ends.has(next.type)) {
      this.#addEmpty(next)
      this.#state = after
    } else {
      this.#enter('flowNode', after)
    }
  }
}

const misplaced = (problem: string, { line, column }: Token): Error => yamlErrorAt(problem, { line, column }, 'misplaced')

const defaultHandles = [
  ['!', '!'],
  ['!!', coreTags],
] as const

/** Tokens that end a document without content. */
const endsContent: ReadonlySet<TokenType> = new Set(['directive', 'documentStart', 'documentEnd', 'streamEnd'])
const endsBlockValue: ReadonlySet<TokenType> = new Set(['key', 'value', 'blockEnd'])
const endsPairValue: ReadonlySet<TokenType> = new Set([',', ']'])
const endsFlowValue: ReadonlySet<TokenType> = new Set([',', '}'])

type CollectionStart = { readonly kind: 'sequence' | 'mapping'; readonly state: State; readonly flow: boolean }
const collections: ReadonlyMap<TokenType, CollectionStart> = new Map([
  ['[', { kind: 'sequence', state: 'firstFlowEntry', flow: true }],
  ['{', { kind: 'mapping', state: 'firstFlowKey', flow: true }],
  ['blockSequenceStart', { kind: 'sequence', state: 'blockEntry', flow: false }],
  ['blockMappingStart', { kind: 'mapping', state: 'blockKey', flow: false }],
])
