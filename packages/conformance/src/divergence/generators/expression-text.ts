import type { RandomChoices } from '@krmkit/base/random-choices'
import overloads from '../../../../cel/testdata/overloads.json' with { type: 'json' }

/** Random, well-typed CEL expressions from the table of all functions (`cel-overloads.json`), with macros, nested. */

interface Signature {
  readonly name: string
  readonly member: boolean
  readonly args: readonly string[]
  readonly result: string
}

/** A name in scope, and its type as in messages: `list(string)`; types of objects are keys of `structs`. */
export interface Variable {
  readonly text: string
  readonly type: string
}

export interface ExpressionOptions {
  readonly variables: readonly Variable[]
  /** Members of object types. */
  readonly structs: Readonly<Record<string, Readonly<Record<string, string>>>>
  /** Newest release whose functions may be used, as `1.32`. */
  readonly release: string
}

const table: Readonly<Record<string, readonly string[]>> = overloads

function minor(release: string): number {
  return Number(release.split('.')[1])
}

/** Splits at commas outside of parentheses. */
function parts(list: string): string[] {
  const found: string[] = []
  let depth = 0
  let part = ''
  for (const character of list) {
    if (character === ',' && depth === 0) {
      found.push(part.trim())
      part = ''
      continue
    }
    depth += character === '(' ? 1 : character === ')' ? -1 : 0
    part += character
  }
  return part.trim() === '' ? found : [...found, part.trim()]
}

/** Name and arguments of `map(string, int)`. */
function typeOf(text: string): { readonly name: string; readonly args: readonly string[] } {
  const open = text.indexOf('(')
  return open < 0 ? { name: text, args: [] } : { name: text.slice(0, open), args: parts(text.slice(open + 1, -1)) }
}

/** `string.(int) -> string # 1.29`: a member function since 1.29. */
function signatureOf(name: string, line: string): Signature & { readonly since: number } {
  const [text, since = '1.23'] = line.split(' # ') as [string, string?]
  const [call, result] = text.split(' -> ') as [string, string]
  const member = /^(.+)\.\((.*)\)$/.exec(call)
  const args = member === null ? parts(call.slice(1, -1)) : [member[1] as string, ...parts(member[2] as string)]
  return { name, member: member !== null, args, result, since: minor(since) }
}

const hidden = /^(?:@not_strictly_false|cel\.@mapInsert|_\?\._|type|dyn)$/

const signatures = Object.entries(table)
  .flatMap(([name, lines]) => lines.map((line) => signatureOf(name, line)))
  .filter(({ name, args, result }) => !hidden.test(name) && ![...args, result].some((type) => type.includes('authorization')))

type Bindings = Map<string, string>

/** Binds the parameters of a pattern so that it becomes the type; `false` when it cannot. */
function unify(pattern: string, type: string, bindings: Bindings): boolean {
  if (/^[A-Z]$/.test(pattern)) {
    const before = bindings.get(pattern)
    if (before !== undefined) return before === type
    bindings.set(pattern, type)
    return true
  }
  const left = typeOf(pattern)
  const right = typeOf(type)
  if (left.name !== right.name || left.args.length !== right.args.length) return false
  return left.args.every((arg, index) => unify(arg, right.args[index] as string, bindings))
}

function substitute(pattern: string, bindings: Bindings): string {
  if (/^[A-Z]$/.test(pattern)) return bindings.get(pattern) as string
  const { name, args } = typeOf(pattern)
  return args.length === 0 ? name : `${name}(${args.map((arg) => substitute(arg, bindings)).join(', ')})`
}

const simple = ['string', 'string', 'int', 'bool', 'double', 'uint', 'bytes', 'duration', 'timestamp'] as const

const literals: Readonly<Record<string, readonly string[]>> = {
  bool: ['true', 'false'],
  int: ['0', '1', '2', '3', '-1', '5', '100', '9223372036854775807'],
  uint: ['0u', '1u', '3u', '18446744073709551615u'],
  double: ['0.0', '1.5', '-2.25', '1e300', '3.0'],
  string: ["''", "'a'", "','", "'a,b,c'", "'[a-c]+'", "'UTC'", "'ÄÖü😀'", "'10.0.0.1'", "'1.2.3'", "'2'", "'1h'", "'%s'", "'.'"],
  bytes: ["b''", "b'abc'", "b'\\xff'"],
  null: ['null'],
  duration: ["duration('1h')", "duration('-1.5s')", "duration('100ms')", 'google.protobuf.Duration{seconds: 5}'],
  timestamp: [
    "timestamp('2024-02-29T12:34:56.789Z')",
    "timestamp('2009-02-13T23:31:30+02:00')",
    'timestamp(0)',
    'google.protobuf.Timestamp{seconds: 5}',
  ],
  'kubernetes.Quantity': ["quantity('1Gi')", "quantity('500m')", "quantity('-3')"],
  'kubernetes.URL': ["url('https://user@example.com:80/a/b?c=d&c=e')", "url('/path')", "url('http://[::1]:1')"],
  'kubernetes.Semver': ["semver('1.2.3')", "semver('1.0.0-rc.1+b')"],
  'kubernetes.NamedFormat': ['format.dns1123Label()', 'format.uri()', 'format.date()'],
  'net.IP': ["ip('10.0.0.1')", "ip('::1')"],
  'net.CIDR': ["cidr('10.0.0.0/8')", "cidr('fe80::/64')"],
} // prettier-ignore

const binary = /^_(\S+)_$/

/** A random expression of a type. */
export function randomExpression(type: string, depth: number, random: RandomChoices, options: ExpressionOptions): string {
  return new Writer(random, options).write(type, depth, options.variables)
}

class Writer {
  readonly #random: RandomChoices
  readonly #structs: ExpressionOptions['structs']
  readonly #signatures: readonly Signature[]
  readonly #release: number
  #names = 0

  constructor(random: RandomChoices, { structs, release }: ExpressionOptions) {
    this.#random = random
    this.#structs = structs
    this.#release = minor(release)
    this.#signatures = signatures.filter(({ since }) => since <= this.#release)
  }

  write(type: string, depth: number, scope: readonly Variable[]): string {
    const random = this.#random
    if (depth <= 0 || random.chance(15)) return this.#leaf(type, scope)
    if (random.chance(30)) {
      const found = this.#macro(type, depth, scope)
      if (found !== undefined) return found
    }
    const fitting: { signature: Signature; bindings: Bindings }[] = []
    for (const signature of this.#signatures) {
      const bindings: Bindings = new Map()
      if (unify(signature.result, type, bindings)) fitting.push({ signature, bindings })
    }
    // Functions have the same chance, however many overloads they have.
    const names = [...new Set(fitting.map(({ signature }) => signature.name))]
    if (names.length === 0) return this.#leaf(type, scope)
    const name = random.pick(names)
    const { signature, bindings } = random.pick(fitting.filter(({ signature: each }) => each.name === name))
    for (const pattern of signature.args) {
      for (const parameter of pattern.match(/\b[A-Z]\b/g) ?? [])
        if (!bindings.has(parameter)) bindings.set(parameter, this.#anyType(scope, 1))
    }
    const args = signature.args.map((arg) => this.write(substitute(arg, bindings), depth - 1, scope))
    return this.#call(signature, args)
  }

  #anyType(scope: readonly Variable[], depth: number): string {
    const random = this.#random
    if (random.chance(40) && scope.length > 0) return random.pick(scope).type
    if (depth > 0 && random.chance(25)) return `list(${this.#anyType(scope, depth - 1)})`
    return random.pick(simple)
  }

  #call({ name, member }: Signature, args: readonly string[]): string {
    const [a, b, c] = args as [string, string, string]
    if (name === '@in') return `(${a} in ${b})`
    if (name === '_[_]') return `${operand(a)}[${b}]`
    if (name === '_[?_]') return `${operand(a)}[?${b}]`
    if (name === '_?_:_') return `(${a} ? ${b} : ${c})`
    if (name === '!_') return `!(${a})`
    if (name === '-_') return `-(${a})`
    const operator = binary.exec(name)
    if (operator !== null) return `(${a} ${operator[1]} ${b})`
    return member ? `${operand(a)}.${name}(${args.slice(1).join(', ')})` : `${name}(${args.join(', ')})`
  }

  #leaf(type: string, scope: readonly Variable[]): string {
    const random = this.#random
    const paths = scope.flatMap((variable) => this.#paths(variable, type, 3))
    if (paths.length > 0 && random.chance(70)) return random.pick(paths)
    const known = literals[type]
    if (known !== undefined) return random.pick(known)
    const { name, args } = typeOf(type)
    const [first, second] = args as [string, string]
    const some = () => Array.from({ length: random.below(3) }, () => this.#leaf(first, scope))
    switch (name) {
      case 'list':
        return `[${some().join(', ')}]`
      case 'map':
        return random.chance(30) ? '{}' : `{${this.#leaf(first, scope)}: ${this.#leaf(second, scope)}}`
      case 'optional_type':
        return random.chance(30) ? 'optional.none()' : `optional.of(${this.#leaf(first, scope)})`
      case 'type':
        return `type(${this.#leaf(first, scope)})`
      case 'dyn':
      case 'any':
        return `dyn(${this.#leaf(random.pick(simple), scope)})`
      default:
        return paths.length > 0 ? random.pick(paths) : (scope.at(-1)?.text ?? 'self')
    }
  }

  /** Paths below a variable that have the type. */
  #paths({ text, type }: Variable, wanted: string, depth: number): string[] {
    const own = type === wanted ? [text] : []
    const members = this.#structs[type]
    if (members === undefined || depth === 0) return own
    return [
      ...own,
      ...Object.entries(members).flatMap(([name, member]) =>
        this.#paths({ text: `${text}.${name}`, type: member }, wanted, depth - 1),
      ),
    ]
  }

  #macro(type: string, depth: number, scope: readonly Variable[]): string | undefined {
    const random = this.#random
    const { name, args } = typeOf(type)
    const [first, second] = args as [string, string]
    const elem = this.#anyType(scope, 1)
    const item = `x${this.#names++}`
    const range = (of: string) => operand(this.write(`list(${of})`, depth - 1, scope))
    const inner = (wanted: string, of: string) => this.write(wanted, depth - 1, [{ text: item, type: of }, ...scope])
    const twice = (wanted: string, key: string, of: string) =>
      this.write(wanted, depth - 1, [{ text: `k${item}`, type: key }, { text: item, type: of }, ...scope])
    const hasPairs = this.#release >= 32
    if (name === 'bool') {
      const choice = random.below(hasPairs ? 7 : 5)
      const macro = random.pick(['all', 'exists', 'exists_one'])
      if (choice < 3) return `${range(elem)}.${macro}(${item}, ${inner('bool', elem)})`
      if (choice === 3) {
        const map = operand(this.write(`map(string, ${elem})`, depth - 1, scope))
        return `${map}.${macro}(${item}, ${inner('bool', 'string')})`
      }
      if (choice === 4) {
        const members = scope.filter(({ type: of }) => this.#structs[of] !== undefined)
        if (members.length === 0) return undefined
        const holder = random.pick(members)
        return `has(${holder.text}.${random.pick(Object.keys(this.#structs[holder.type] ?? {}))})`
      }
      const pair = random.pick(['all', 'exists', 'existsOne'])
      if (choice === 5) return `${range(elem)}.${pair}(k${item}, ${item}, ${twice('bool', 'int', elem)})`
      const map = operand(this.write(`map(string, ${elem})`, depth - 1, scope))
      return `${map}.${pair}(k${item}, ${item}, ${twice('bool', 'string', elem)})`
    }
    if (name === 'list') {
      switch (random.below(hasPairs ? 4 : 3)) {
        case 0:
          return `${range(first)}.filter(${item}, ${inner('bool', first)})`
        case 1:
          return `${range(elem)}.map(${item}, ${inner(first, elem)})`
        case 2:
          return `${range(elem)}.map(${item}, ${inner('bool', elem)}, ${inner(first, elem)})`
        default: {
          const filter = random.chance(40) ? `${twice('bool', 'int', elem)}, ` : ''
          return `${range(elem)}.transformList(k${item}, ${item}, ${filter}${twice(first, 'int', elem)})`
        }
      }
    }
    if (name === 'map' && hasPairs) {
      const map = operand(this.write(`map(${first}, ${elem})`, depth - 1, scope))
      if (random.chance(50)) return `${map}.transformMap(k${item}, ${item}, ${twice(second, first, elem)})`
      const key = twice(first, 'int', elem)
      return `${range(elem)}.transformMapEntry(k${item}, ${item}, {${key}: ${twice(second, 'int', elem)}})`
    }
    if (name === 'optional_type') {
      const held = operand(this.write(`optional_type(${elem})`, depth - 1, scope))
      return random.chance(50)
        ? `${held}.optMap(${item}, ${inner(first, elem)})`
        : `${held}.optFlatMap(${item}, ${inner(type, elem)})`
    }
    return undefined
  }
}

/** The text as the target of a call. */
function operand(text: string): string {
  return /^(?:-|!|\d)/.test(text) ? `(${text})` : text
}
