import { ErrorValue, type Value } from '../values/values.ts'
import type { Expr, Literal, MapEntry, MessageExpr } from './ast.ts'
import { type CompileBudget, createCompileBudget, maxNodes } from './compile-budget.ts'
import { type Token, tokenize } from './lexer.ts'
import { readBytes, readDouble, readInt, readString, readUint } from './literals.ts'
import { expandMacro, type MacroTable } from './macros.ts'
import { expectedTokens, expressionStarts, reserved } from './parser-tokens.ts'
import type { Problem } from './source.ts'

/** Parses expressions and expands macros. Messages match kube-apiserver's parser up to the first error, which ends parsing. */

const maxLength = 100_000
const maxDepth = 250
/** Binary operators by precedence, lowest first. */
const relations = new Set(['<', '<=', '>', '>=', '==', '!=', 'in'])
const sums = new Set(['+', '-'])
const products = new Set(['*', '/', '%'])

/** Thrown to end parsing; the error is in the list of problems. */
class Stop {}

export function parse(
  text: string,
  macros: MacroTable,
  budget: CompileBudget = createCompileBudget(),
): { expr: Expr } | { problems: readonly Problem[] } {
  const problems: Problem[] = []
  const length = Array.from(text).length
  if (length > maxLength) {
    return { problems: [{ at: 0, message: `expression code point size exceeds limit: size: ${length}, limit ${maxLength}` }] }
  }
  const parser = new Parser(tokenize(text, problems), { macros, problems, maxNodes: Math.min(maxNodes, budget.nodes) })
  try {
    const expr = parser.whole()
    return problems.length === 0 ? { expr } : { problems }
  } catch (error) {
    if (error instanceof Stop) return { problems }
    throw error
  } finally {
    budget.nodes = Math.max(0, budget.nodes - parser.nodes)
  }
}

class Parser {
  readonly #tokens: readonly Token[]
  readonly #macros: MacroTable
  readonly #problems: Problem[]
  #next = 0
  /** Token index after the last opening bracket, and the tokens expected there. */
  #opened = -1
  #expected = ''
  #depth = 0
  readonly #maxNodes: number
  nodes = 0

  constructor(
    tokens: readonly Token[],
    { macros, problems, maxNodes }: { macros: MacroTable; problems: Problem[]; maxNodes: number },
  ) {
    this.#tokens = tokens
    this.#macros = macros
    this.#problems = problems
    this.#maxNodes = maxNodes
  }

  whole(): Expr {
    const expr = this.#expr()
    const rest = this.#peek()
    if (rest.kind !== 'end') {
      const what = this.#tokens[this.#next + 1]?.kind === 'end' ? 'extraneous' : 'mismatched'
      this.#syntax(rest, `${what} input '${rest.text}' expecting <EOF>`)
    }
    return expr
  }

  #expr(): Expr {
    if (++this.#depth > maxDepth) this.#tooDeep()
    const condition = this.#chain('||', '_||_', () => this.#chain('&&', '_&&_', () => this.#binary(relations, 'relation')))
    const mark = this.#accept('?')
    let expr = condition
    if (mark !== undefined) {
      const yes = this.#chain('||', '_||_', () => this.#chain('&&', '_&&_', () => this.#binary(relations, 'relation')))
      this.#expect(':')
      expr = this.#call('_?_:_', mark.at, [condition, yes, this.#expr()])
    }
    this.#depth--
    return expr
  }

  /** `a && b && c` as a balanced tree, so that long chains stay shallow. */
  #chain(sign: string, name: string, operand: () => Expr): Expr {
    const terms = [operand()]
    const marks: Token[] = []
    for (let mark = this.#accept(sign); mark !== undefined; mark = this.#accept(sign)) {
      marks.push(mark)
      terms.push(operand())
    }
    const balance = (low: number, high: number): Expr => {
      const middle = Math.floor((low + high + 1) / 2)
      const left = middle === low ? terms[middle] : balance(low, middle - 1)
      const right = middle === high ? terms[middle + 1] : balance(middle + 1, high)
      return this.#call(name, (marks[middle] as Token).at, [left as Expr, right as Expr])
    }
    return marks.length === 0 ? (terms[0] as Expr) : balance(0, marks.length - 1)
  }

  /** Left-associative; the depth of a chain is limited. */
  #binary(signs: ReadonlySet<string>, level: 'relation' | 'sum' | 'product'): Expr {
    const operand = (): Expr =>
      level === 'relation' ? this.#binary(sums, 'sum') : level === 'sum' ? this.#binary(products, 'product') : this.#unary()
    let left = operand()
    for (let links = 2; ; links++) {
      const mark = this.#peek()
      if (mark.kind !== 'sign' || !signs.has(mark.text)) return left
      if (links > maxDepth) this.#tooDeep()
      this.#next++
      left = this.#call(mark.text === 'in' ? '@in' : `_${mark.text}_`, mark.at, [left, operand()])
    }
  }

  #unary(): Expr {
    const mark = this.#peek()
    if (mark.kind !== 'sign' || (mark.text !== '!' && mark.text !== '-')) return this.#member()
    if (mark.text === '-' && this.#isNumber(this.#next + 1)) return this.#member()
    let count = 0
    while (this.#accept(mark.text) !== undefined) count++
    if (mark.text === '-' && this.#isNumber(this.#next)) {
      // The last minus belongs to the number.
      this.#next--
      count--
    }
    const operand = this.#member()
    return count % 2 === 0 ? operand : this.#call(mark.text === '!' ? '!_' : '-_', mark.at, [operand])
  }

  #isNumber(index: number): boolean {
    const kind = this.#tokens[index]?.kind
    return kind === 'int' || kind === 'float'
  }

  #member(): Expr {
    let operand = this.#primary()
    for (let links = 2; ; links++) {
      if (links > maxDepth) this.#tooDeep()
      const dot = this.#accept('.')
      if (dot !== undefined) operand = this.#selection(operand, dot)
      else {
        const open = this.#accept('[')
        if (open === undefined) return operand
        const optional = this.#accept('?') !== undefined
        const index = this.#expr()
        this.#expect(']')
        operand = this.#call(optional ? '_[?_]' : '_[_]', open.at, [operand, index])
      }
    }
  }

  #selection(operand: Expr, dot: Token): Expr {
    const optional = this.#accept('?') !== undefined
    const name = this.#memberName()
    if (optional) return this.#call('_?._', dot.at, [operand, this.#literal(name.at, name.text)])
    const open = this.#accept('(')
    if (open === undefined) return this.#node({ kind: 'select', at: dot.at, operand, field: name.text, test: false })
    return this.#invoke(name.text, operand, open.at, this.#list(')'))
  }

  #primary(): Expr {
    const token = this.#peek()
    if (token.kind === 'name' || (token.text === '.' && token.kind === 'sign')) return this.#named()
    if (token.kind === 'sign') {
      switch (token.text) {
        case '(': {
          this.#next++
          const inner = this.#expr()
          this.#expect(')')
          return inner
        }
        case '[':
          this.#next++
          return this.#listLiteral(token.at)
        case '{':
          this.#next++
          return this.#mapLiteral(token.at)
        case 'true':
        case 'false':
          this.#next++
          return this.#literal(token.at, token.text === 'true')
        case 'null':
          this.#next++
          return this.#literal(token.at, null)
      }
    }
    return this.#constant(token)
  }

  #constant(first: Token): Expr {
    const negative = first.text === '-' && first.kind === 'sign'
    const token = negative ? (this.#tokens[this.#next + 1] as Token) : first
    let value: Value
    if (token.kind === 'int') value = readInt(token.text, negative)
    else if (token.kind === 'float') value = readDouble(token.text, negative)
    else if (token.kind === 'uint') value = readUint(token.text)
    else if (token.kind === 'string') value = readString(token.text)
    else if (token.kind === 'bytes') value = readBytes(token.text)
    else return this.#misplaced(first)
    this.#next += negative ? 2 : 1
    if (value instanceof ErrorValue) {
      this.#problems.push({ at: first.at, message: value.message })
      return this.#literal(first.at, 0)
    }
    return this.#literal(first.at, value)
  }

  /** `name`, `name(...)`, `a.b.Name{...}`, each with an optional leading dot. */
  #named(): Expr {
    const dot = this.#accept('.')
    const name = this.#name()
    const prefix = dot === undefined ? '' : '.'
    const message = this.#messageName(name.text)
    if (message !== undefined) return this.#message(`${prefix}${message}`)
    if (reserved.has(name.text)) this.#problems.push({ at: name.at, message: `reserved identifier: ${name.text}` })
    const open = this.#accept('(')
    if (open !== undefined) return this.#invoke(`${prefix}${name.text}`, undefined, open.at, this.#list(')'))
    return this.#node({ kind: 'ident', at: dot?.at ?? name.at, name: `${prefix}${name.text}` })
  }

  /** The dotted name before a `{`, which becomes the next token; `undefined` otherwise. */
  #messageName(first: string): string | undefined {
    let ahead = this.#next
    let name = first
    while (this.#isSign(ahead, '.') && this.#tokens[ahead + 1]?.kind === 'name') {
      name += `.${(this.#tokens[ahead + 1] as Token).text}`
      ahead += 2
    }
    if (!this.#isSign(ahead, '{')) return undefined
    this.#next = ahead
    return name
  }

  #message(name: string): Expr {
    const open = this.#expect('{')
    const fields: MessageExpr['fields'][number][] = []
    while (!this.#isSign(this.#next, '}')) {
      const optional = this.#accept('?') !== undefined
      const field = this.#name()
      const colon = this.#expect(':')
      fields.push({ name: field.text, at: colon.at, value: this.#expr(), optional })
      if (this.#accept(',') === undefined) break
    }
    this.#expect('}')
    return this.#node({ kind: 'message', at: open.at, name, fields })
  }

  #listLiteral(at: number): Expr {
    this.#open(']', true)
    const items: Expr[] = []
    const optional = new Set<number>()
    while (!this.#isSign(this.#next, ']')) {
      if (this.#accept('?') !== undefined) optional.add(items.length)
      items.push(this.#expr())
      if (this.#accept(',') === undefined) break
    }
    this.#expect(']')
    return this.#node({ kind: 'list', at, items, optional })
  }

  #mapLiteral(at: number): Expr {
    this.#open('}', true)
    const entries: MapEntry[] = []
    while (!this.#isSign(this.#next, '}')) {
      const optional = this.#accept('?') !== undefined
      const key = this.#expr()
      this.#expect(':')
      entries.push({ key, value: this.#expr(), optional })
      if (this.#accept(',') === undefined) break
    }
    this.#expect('}')
    return this.#node({ kind: 'map', at, entries })
  }

  #list(close: string): Expr[] {
    this.#open(close, false)
    const items: Expr[] = []
    if (!this.#isSign(this.#next, close)) {
      do items.push(this.#expr())
      while (this.#accept(',') !== undefined)
    }
    this.#expect(close)
    return items
  }

  #invoke(name: string, target: Expr | undefined, at: number, args: readonly Expr[]): Expr {
    const expanded = expandMacro(this.#macros, { name, target, args, at })
    if (expanded === undefined) return this.#node({ kind: 'call', at, name, target, args })
    if ('message' in expanded) {
      this.#problems.push(expanded)
      return this.#literal(at, false)
    }
    this.nodes += expanded.nodes
    this.#bounded()
    return expanded.expr
  }

  #call(name: string, at: number, args: readonly Expr[]): Expr {
    return this.#node({ kind: 'call', at, name, target: undefined, args })
  }

  #literal(at: number, value: Value): Literal {
    return this.#node({ kind: 'literal', at, value })
  }

  #node<N extends Expr>(node: N): N {
    this.nodes++
    this.#bounded()
    return node
  }

  #bounded(): void {
    if (this.nodes <= this.#maxNodes) return
    this.#problems.push({ at: 0, message: `expression size exceeds limit: ${this.#maxNodes} nodes` })
    throw new Stop()
  }

  #peek(): Token {
    return this.#tokens[this.#next] as Token
  }

  #isSign(index: number, text: string): boolean {
    const token = this.#tokens[index]
    return token?.kind === 'sign' && token.text === text
  }

  #accept(text: string): Token | undefined {
    if (!this.#isSign(this.#next, text)) return undefined
    return this.#tokens[this.#next++]
  }

  #expect(text: string): Token {
    const found = this.#accept(text)
    if (found !== undefined) return found
    const token = this.#peek()
    if (token.kind === 'end') return this.#syntax(token, `missing '${text}' at '<EOF>'`)
    const what = this.#isSign(this.#next + 1, text) ? 'extraneous' : 'mismatched'
    return this.#syntax(token, `${what} input '${token.text}' expecting '${text}'`)
  }

  #memberName(): Token {
    const token = this.#peek()
    if (token.kind === 'name') return this.#name()
    const shown = token.kind === 'end' ? '' : token.text
    return this.#syntax(token, `no viable alternative at input '.${shown}'`)
  }

  #name(): Token {
    const token = this.#peek()
    if (token.kind !== 'name') return this.#syntax(token, `mismatched input '${token.text}' expecting IDENTIFIER`)
    this.#next++
    return token
  }

  /** Skips one unexpected token before an expression. */
  #misplaced(token: Token): Expr {
    const next = this.#tokens[this.#next + 1]
    const usable = next !== undefined && next.kind !== 'end' && (next.kind !== 'sign' || expressionStarts.has(next.text))
    const expected = this.#opened === this.#next ? this.#expected : expectedTokens()
    if (token.kind === 'end' || !usable) {
      return this.#syntax(token, `mismatched input '${token.text}' expecting ${expected}`)
    }
    this.#problems.push({ at: token.at, message: `Syntax error: extraneous input '${token.text}' expecting ${expected}` })
    this.#next++
    return this.#primary()
  }

  /** Records the tokens expected after an opening bracket. */
  #open(close: string, inside: boolean): void {
    this.#opened = this.#next
    this.#expected = expectedTokens({ close, inside })
  }

  #syntax(token: Token, message: string): never {
    this.#problems.push({ at: token.at, message: `Syntax error: ${message}` })
    throw new Stop()
  }

  #tooDeep(): never {
    this.#problems.push({ at: 0, message: `expression recursion limit exceeded: ${maxDepth}` })
    throw new Stop()
  }
}
