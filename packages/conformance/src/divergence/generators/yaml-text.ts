import type { RandomChoices } from '@krmkit/base/random-choices'

/** Random documents of YAML: every style of scalars and collections, with what may stand between them, and damage. */

/** Numbers in every notation of JSON. */
export const jsonNumbers: readonly string[] = [
  ...[
    '0',
    '-0',
    '1',
    '-1',
    '1.0',
    '-1.0',
    '1e0',
    '1e3',
    '1E+3',
    '10e-1',
    '1.5',
    '0.1',
    '0.3',
    '1.10',
    '100.0',
    '0.30000000000000004',
  ],
  ...[
    '1e-7',
    '1e6',
    '1e15',
    '1e18',
    '-1e18',
    '1e19',
    '1e20',
    '1e21',
    '1.5e21',
    '1e22',
    '5e-324',
    '1e-400',
    '1.7976931348623157e308',
  ],
  ...[
    '2147483647',
    '2147483648',
    '-2147483648',
    '-2147483649',
    '4294967295',
    '4294967296',
    '9007199254740991',
    '9007199254740992',
  ],
  ...['9007199254740993', '-9007199254740993', '9007199254740993.0', '9223372036854775807', '9223372036854775808'],
  ...['-9223372036854775808', '-9223372036854775809', '18446744073709551615', '18446744073709551616', '1e309'],
  ...[
    '123456789012345678901234567890',
    '9223372036854775807.0',
    '9.223372036854775808e18',
    '-9.223372036854775808e18',
    '1000000.5',
  ],
]

/** Numbers of YAML that JSON does not have, and what resembles them. */
const yamlNumbers: readonly string[] = [
  ...[
    '0x1F',
    '-0x1f',
    '0XA',
    '0o17',
    '017',
    '-017',
    '08',
    '0b101',
    '0B1',
    '1_000',
    '_1',
    '1_',
    '0x_1',
    '+1',
    '+1.5',
    '.5',
    '-.5',
    '5.',
    '1.e3',
  ],
  ...[
    '.inf',
    '-.INF',
    '+.inf',
    '.nan',
    '.NaN',
    '1:30',
    '190:20:30',
    '1.2.3',
    '1e',
    '1e+',
    '0xffffffffffffffff',
    '0x8000000000000000',
  ],
  ...[
    '-0x8000000000000000',
    '0o1777777777777777777777',
    '0b1111111111111111111111111111111111111111111111111111111111111111',
    '1_0.5',
    '0.1_0',
  ],
]
const words: readonly string[] = [
  ...[
    'a',
    'bc',
    'd e',
    'x-y',
    'yes',
    'No',
    'on',
    'OFF',
    'y',
    'N',
    'true',
    'False',
    'null',
    '~',
    'Null',
    '<<',
    '=',
    'a#b',
    'a:b',
    '-a',
    '?a',
    ':a',
  ],
  ...[
    '2001-01-01',
    '2001-12-14t21:59:43.10-05:00',
    '2001-1-1 1:1:1',
    'é',
    '日本',
    '\u{1f600}',
    'a\u00a0b',
    '@a',
    '`a',
    '%a',
    '!a',
    '*a',
    '&a',
    '-',
    '?',
  ],
]
const tags = [
  '!!str',
  '!!int',
  '!!float',
  '!!bool',
  '!!null',
  '!!binary',
  '!!timestamp',
  '!!map',
  '!!seq',
  '!!set',
  '!',
  '!x',
  '!<tag:yaml.org,2002:str>',
  '!<x>',
]
const escapes = [
  '\\n',
  '\\t',
  '\\"',
  '\\\\',
  '\\/',
  '\\x41',
  '\\u00e9',
  '\\U0001f600',
  '\\ud83d',
  '\\0',
  '\\a',
  '\\e',
  '\\_',
  '\\N',
  '\\L',
  '\\P',
  '\\ ',
  '\\\n  ',
  '\\q',
  '\\x4',
]
const indicators = [
  ...'-?:,[]{}#&*!|>\'"%@` \t\n\\~=<.0a',
  '\u0085',
  '\u2028',
  '\u007f',
  '\ufeff',
  '\r',
  '\r\n',
  ' #',
  ': ',
  '- ',
  '\n\n',
  '\u0000',
]

export class YamlWriter {
  readonly #random: RandomChoices
  readonly #anchors: string[] = []

  constructor(random: RandomChoices) {
    this.#random = random
  }

  /** A scalar in one of the styles, for a place with an indentation. */
  scalar(indent: number, flow = false): string {
    const random = this.#random
    switch (random.below(flow ? 10 : 13)) {
      case 0:
      case 1:
        return random.pick(jsonNumbers)
      case 2:
        return random.pick(yamlNumbers)
      case 3:
      case 4:
      case 5:
        return random.pick(words)
      case 6:
      case 7:
        return this.#quoted('"', indent)
      case 8:
        return this.#quoted("'", indent)
      case 9:
        return this.#lines(indent, random.pick(words))
      default:
        return this.#block(indent)
    }
  }

  /** A node after `key:` or `-`, with the end of its line. */
  node(indent: number, depth: number): string {
    const random = this.#random
    const kind = random.below(depth <= 0 ? 5 : 10)
    if (kind === 0) return this.#end()
    if (this.#anchors.length > 0 && random.chance(8)) return ` *${random.pick(this.#anchors)}${this.#end()}`
    const properties = this.#properties()
    if (kind < 5) return ` ${properties}${this.scalar(indent)}${this.#end()}`
    if (kind < 7) return ` ${properties}${this.flow(depth, indent)}${this.#end()}`
    const inner = indent + random.pick([1, 2, 2, 2, 3, 4])
    if (kind < 9) return ` ${properties}${this.#end()}${this.mapping(inner, depth - 1)}`
    return ` ${properties}${this.#end()}${this.#sequence(random.chance(40) ? indent : inner, depth - 1)}`
  }

  /** A block mapping. */
  mapping(indent: number, depth: number): string {
    const random = this.#random
    let text = ''
    for (let i = 1 + random.below(3); i > 0; i--) {
      const key = random.chance(75) ? random.pick(['a', 'b', 'c', 'd', 'e']) : this.#key(indent)
      const start = ' '.repeat(indent)
      if (random.chance(4)) text += `${start}? ${key}\n${start}:${this.node(indent, depth)}`
      else text += `${start}${key}${random.chance(5) ? ' ' : ''}:${this.node(indent, depth)}`
    }
    return text
  }

  flow(depth: number, indent: number): string {
    const random = this.#random
    const blank = () => random.pick(['', '', ' ', `\n${' '.repeat(indent + 1)}`, ' # c\n   '])
    const item = (): string => {
      if (this.#anchors.length > 0 && random.chance(6)) return `*${random.pick(this.#anchors)} `
      if (depth > 0 && random.chance(25)) return this.flow(depth - 1, indent)
      return this.#properties() + this.scalar(indent, true)
    }
    const items: string[] = []
    const mapping = random.chance(50)
    for (let i = random.below(4); i > 0; i--) {
      const value = `${blank()}${item()}${blank()}`
      const keyed = mapping || random.chance(8)
      const pair = random.chance(8) ? this.#key(indent) : `${blank()}${this.#key(indent)}:${random.chance(88) ? ' ' : ''}${value}`
      items.push(keyed ? pair : value)
    }
    return `${mapping ? '{' : '['}${items.join(',')}${random.chance(8) ? ',' : ''}${blank()}${mapping ? '}' : ']'}`
  }

  #sequence(indent: number, depth: number): string {
    const random = this.#random
    let text = ''
    for (let i = 1 + random.below(3); i > 0; i--) {
      const compact = depth > 0 && random.chance(25)
      const item = compact ? ` ${this.mapping(indent + 2, depth - 1).trimStart()}` : this.node(indent, depth)
      text += `${' '.repeat(indent)}-${item}`
    }
    return text
  }

  #key(indent: number): string {
    const random = this.#random
    if (random.chance(70))
      return random.pick(['a', 'b', '"c"', "'d'", '1', '1.5', 'true', 'x y', 'null', '<<', '-0.0', '1e3', '0x10', '? a', '.5'])
    return this.#properties() + (random.chance(50) ? this.#quoted(random.pick(['"', "'"]), indent) : random.pick(jsonNumbers))
  }

  #properties(): string {
    const random = this.#random
    if (random.chance(82)) return ''
    const tag = random.chance(60) ? `${random.pick(tags)} ` : ''
    if (tag !== '' && random.chance(70)) return tag
    const anchor = random.pick(['x', 'y', 'z1', 'a-b'])
    this.#anchors.push(anchor)
    return random.chance(50) ? `&${anchor} ${tag}` : `${tag}&${anchor} `
  }

  #quoted(quote: string, indent: number): string {
    const random = this.#random
    const parts: string[] = []
    for (let i = random.below(5); i > 0; i--) {
      const word = random.pick(words).replaceAll(quote, '')
      parts.push(quote === '"' && random.chance(25) ? random.pick(escapes) : quote === "'" && random.chance(10) ? "''" : word)
    }
    return quote + this.#lines(indent, ...parts) + quote
  }

  /** Words on one line or several. */
  #lines(indent: number, ...parts: readonly string[]): string {
    const random = this.#random
    let text = parts[0] ?? ''
    for (const part of [...parts.slice(1), ...(random.chance(10) ? ['z'] : [])]) {
      const start = `\n${' '.repeat(indent + random.pick([1, 1, 2, 4, 0]))}`
      text += random.pick(['', ' ', ' ', '  ', start, start, ` ${start}`, `\n${start}`, `${start}\t`]) + part
    }
    return text
  }

  /** A literal or folded block. */
  #block(indent: number): string {
    const random = this.#random
    const deeper = indent + random.pick([1, 2, 2, 4])
    const explicit = random.chance(20) ? String(random.pick([deeper - indent, 1, 2, 0])) : ''
    const chomp = random.pick(['', '', '+', '-'])
    const head = random.chance(50) ? explicit + chomp : chomp + explicit
    let text = random.pick(['|', '>']) + head + random.pick(['', '', ' ', ' # c', '#c'])
    for (let i = random.below(5); i > 0; i--) {
      const line = random.pick(['', '', ' ', '\t', '# c', ...words, '  more', '- a', 'a: b'])
      text += `\n${line === '' && random.chance(70) ? '' : ' '.repeat(deeper + random.pick([0, 0, 0, 2, -1]))}${line}`
    }
    return text
  }

  #end(): string {
    return this.#random.pick(['\n', '\n', '\n', '\n', ' \n', ' # c\n', '\n\n', '\n# c\n', '\n  # c\n', '\t\n'])
  }

  /** What may stand around the only document of a body. */
  framed(text: string): string {
    const random = this.#random
    let framed =
      random.pick([
        '',
        '',
        '',
        '---\n',
        '--- # c\n',
        '# c\n---\n',
        '%YAML 1.1\n---\n',
        '%YAML 1.2\n---\n',
        '\n',
        '\ufeff',
        '%TAG !e! tag:x,1:\n---\n',
      ]) + text
    framed += random.pick(['', '', '', '...\n', '---\n', '---\na: b\n', '...\n%YAML 1.1\n---\n', '... # c\n', '\n\n', '# c'])
    if (random.chance(5)) framed = framed.replaceAll('\n', '\r\n')
    if (random.chance(2)) framed = framed.replaceAll('\n', '\r')
    return random.chance(25) ? this.#damaged(framed) : framed
  }

  #damaged(text: string): string {
    const random = this.#random
    const at = random.below(text.length + 1)
    const removed = random.pick([0, 1, 1, 2])
    return text.slice(0, at) + (random.chance(70) ? random.pick(indicators) : '') + text.slice(at + removed)
  }
}
