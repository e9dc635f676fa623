import type { RandomChoices } from '@krmkit/base/random-choices'
import type { JsonValue } from '@krmkit/meta'

type Schema = Record<string, JsonValue>

/** Random `x-kubernetes-validations` of a schema; mostly correct CEL. */
export function randomRules(schema: Schema, random: RandomChoices): JsonValue[] {
  return Array.from({ length: random.pick([1, 1, 2]) }, () => randomRule(schema, random)).filter((rule) => rule !== undefined)
}

function randomRule(schema: Schema, random: RandomChoices): Schema | undefined {
  const expression = condition('self', schema, random, 0)
  if (expression === undefined) return undefined
  const rule: Schema = { rule: expression }
  if (random.chance(35)) rule['message'] = random.pick(['must hold', 'no "quotes"', 'ünicode', 'a: b'])
  if (random.chance(15))
    rule['messageExpression'] = random.pick(["'literal'", "'got ' + string(1)", "'%d items'.format([2])", "''", "'a\\nb'", "' '"])
  if (random.chance(15))
    rule['reason'] = random.pick(['FieldValueInvalid', 'FieldValueForbidden', 'FieldValueRequired', 'FieldValueDuplicate'])
  const properties = Object.keys((schema['properties'] ?? {}) as Schema)
  if (random.chance(15) && properties.length > 0) rule['fieldPath'] = fieldPath(random.pick(properties))
  if (random.chance(8)) {
    rule['optionalOldSelf'] = true
    rule['rule'] = random.pick([
      '!oldSelf.hasValue() || self == oldSelf.value()',
      'oldSelf.orValue(self) == self',
      'oldSelf.hasValue()',
    ])
  }
  return rule
}

function fieldPath(name: string): string {
  return /^[a-z]\w*$/i.test(name) ? `.${name}` : `['${name}']`
}

/** Rules that definitions are refused for. */
export const badRules: readonly Schema[] = [
  { rule: '' },
  { rule: ' ' },
  { rule: '1 +' },
  { rule: 'self.missing > 1' },
  { rule: 'foo' },
  { rule: '"text"' },
  { rule: '1' },
  { rule: "self + 1 == 'a'" },
  { rule: 'self.size(' },
  { rule: 'true', message: '' },
  { rule: 'true', message: ' ' },
  { rule: 'true', message: 'a\nb' },
  { rule: 'true', messageExpression: '1' },
  { rule: 'true', messageExpression: 'self.missing' },
  { rule: 'true', messageExpression: '' },
  { rule: 'true', messageExpression: ' ' },
  { rule: 'true', reason: 'Other' },
  { rule: 'true', reason: '' },
  { rule: 'true', fieldPath: '.missing' },
  { rule: 'true', fieldPath: 'missing' },
  { rule: 'true', fieldPath: '' },
  { rule: 'true', fieldPath: '.a[0]' },
  { rule: 'true', fieldPath: ".a['b" },
  { rule: 'oldSelf.hasValue()' },
  { rule: 'true', optionalOldSelf: true },
  { rule: 'self == oldSelf' },
  { rule: "'\\q' == 'a'" },
  { rule: 'a.b.c' },
  { rule: '[1, "a"].size() > 0' },
  { rule: "'a'.matches('[')" },
  { rule: "duration('x') > duration('1s')" },
  { rule: "timestamp('2024-01-01T00:00:00Z') > timestamp('x')" },
  { rule: 'authorizer.path("/").check("get").allowed()' },
  { rule: 'request.name == "a"' },
  { rule: "quantity('x').isInteger()" },
  { rule: 'x'.repeat(300) },
  { rule: 'self.all(x, self.all(y, self.all(z, true)))' },
  { rule: 'dyn(self) == 1' },
  { rule: 'type(self) == string' },
  { rule: 'true\n&& foo' },
  { rule: "''.foo()" },
  { rule: 'size(1) > 0' },
  { rule: 'true ? 1 : false' },
  { rule: '!1' },
  { rule: 'true && 1' },
  { rule: '-"a" == "b"' },
  { rule: 'has(self)' },
  { rule: '1u == 1' },
  { rule: '9223372036854775808 > 0' },
  { rule: '{"a": 1, "a": 2}.size() > 0' },
  { rule: '1 in 2' },
  { rule: 'b"x" == "x"' },
  { rule: 'null == 1' },
  { rule: 'self.exists(1, true)' },
  { rule: 'true || /' },
  { rule: 'a ? b' },
  { rule: 'if' },
  { rule: 'self["a' },
]

/** A boolean expression over a value of the schema; `undefined` where expressions cannot reach. */
export function condition(at: string, schema: Schema, random: RandomChoices, depth: number): string | undefined {
  if (schema['x-kubernetes-int-or-string'] === true)
    return random.pick([`type(${at}) == int || ${at} != ''`, `${at} == 1 || ${at} == '50%'`])
  if (Array.isArray(schema['enum']) && random.chance(50)) return `${at} != ${JSON.stringify(schema['enum'][0])}`
  const simple = simpleConditions(at, String(schema['type']), schema['format'])
  switch (schema['type']) {
    case 'string':
    case 'integer':
    case 'number':
    case 'boolean':
      return random.pick(simple)
    case 'array':
      return listCondition(at, schema, random, depth)
    case 'object':
      return objectCondition(at, schema, random, depth)
    default:
      return undefined
  }
}

function simpleConditions(at: string, type: string, format: JsonValue | undefined): readonly string[] {
  if (type === 'boolean')
    return [at, `!${at}`, `${at} == true`, `${at} ? true : 1 < 2`, `string(${at}) != 'x'`, `${at} || oldSelf == oldSelf`]
  if (type === 'integer')
    return [
      `${at} > 3`,
      `${at} % 2 == 0`,
      `${at} + 1 > 0`,
      `10 / ${at} > 1`,
      `${at} * 9223372036854775807 > 0`,
      `${at} in [1, 2, 3]`,
      `double(${at}) < 2.5`,
      `string(${at}).size() == 1`,
      `${at} >= 0 && ${at} < 100`,
      `${at} < 3.5`,
      `-${at} < 0`,
      `uint(${at}) > 1u`,
      `math.greatest(${at}, 3) == 3`,
    ] // prettier-ignore
  if (type === 'number')
    return [`${at} > 1.0`, `${at} < 3`, `int(${at}) == 2`, `${at} / 0.0 > 1.0`, `${at} + 1.5 < 4.0`, `string(${at}) != '1'`]
  if (format === 'date-time')
    return [`${at} > timestamp('2020-01-01T00:00:00Z')`, `${at}.getFullYear() > 2000`, `string(${at}) != ''`]
  if (format === 'duration') return [`${at} > duration('1h')`, `${at}.getSeconds() > 5`]
  if (format === 'date') return [`${at}.getMonth() < 12`, `${at} > timestamp('2020-01-01T00:00:00Z')`]
  if (format === 'byte') return [`${at}.size() > 1`, `${at} == b'abc'`]
  return [
    `${at}.size() < 3`,
    `size(${at}) > 1`,
    `${at}.startsWith('a')`,
    `${at}.endsWith('b')`,
    `${at}.contains('b')`,
    `${at}.matches('^[a-b]+$')`,
    `${at} in ['a', 'b']`,
    `${at} != 'ab'`,
    `${at}.lowerAscii() == ${at}`,
    `${at}.upperAscii() != 'A'`,
    `${at}.replace('a', 'b') == 'b'`,
    `${at}.split('b').size() < 2`,
    `${at}.indexOf('b') < 1`,
    `${at}.substring(1) == ''`,
    `${at}.charAt(0) == 'a'`,
    `${at}.trim() == ${at}`,
    `isURL(${at})`,
    `url(${at}).getScheme() == 'https'`,
    `isQuantity(${at})`,
    `quantity(${at}).isGreaterThan(quantity('1'))`,
    `isIP(${at})`,
    `ip(${at}).family() == 4`,
    `cidr(${at}).prefixLength() > 8`,
    `isCIDR(${at})`,
    `${at}.find('[a-z]') == 'a'`,
    `${at}.findAll('[a-z]').size() == 1`,
    `int(${at}) > 1`,
    `double(${at}) > 1.0`,
    `timestamp(${at}).getFullYear() > 2000`,
    `duration(${at}) > duration('1s')`,
    `!format.dns1123Label().validate(${at}).hasValue()`,
    `format.named('uuid').hasValue() && ${at} == 'a'`,
    `${at} + 'x' == 'ax'`,
    `${at} < 'b'`,
    `'%s-%s'.format([${at}, 1]) == 'a-1'`,
    `${at}.reverse() == ${at}`,
    `isSemver(${at})`,
    `bytes(${at}).size() == 1`,
    `${at}.substring(5) == ''`,
    `strings.quote(${at}) == 'a'`,
    `${at}.lastIndexOf('a') == 0`,
    `bool(${at})`,
    `[${at}, 'a'].join(',') == 'a,a'`,
  ] // prettier-ignore
}

function listCondition(at: string, schema: Schema, random: RandomChoices, depth: number): string | undefined {
  const items = schema['items'] as Schema
  const name = `v${depth}`
  const inner = depth > 1 ? undefined : condition(name, items, random, depth + 1)
  const general = [`${at}.size() < 2`, `size(${at}) > 0`, `${at} == [] || true`, `${at}.map(i, i).size() == ${at}.size()`]
  if (inner !== undefined && !inner.includes('oldSelf'))
    general.push(
      `${at}.all(${name}, ${inner})`,
      `${at}.exists(${name}, ${inner})`,
      `${at}.exists_one(${name}, ${inner})`,
      `${at}.filter(${name}, ${inner}).size() < 2`,
      `!${at}.exists(${name}, !(${inner}))`,
    )
  if (items['type'] === 'integer' && items['enum'] === undefined)
    general.push(`${at}.sum() < 5`, `${at}.isSorted()`, `${at}.max() < 4`, `${at}.indexOf(1) == 0`)
  if (items['type'] === 'string' && items['format'] === undefined)
    general.push(`'a' in ${at}`, `${at}.isSorted()`, `${at}.join(',') != ''`, `${at}[0] == 'a'`)
  if (at === 'self') general.push('self == oldSelf', 'self.size() >= oldSelf.size()', 'oldSelf.all(o, o in self)')
  return random.pick(general)
}

function objectCondition(at: string, schema: Schema, random: RandomChoices, depth: number): string | undefined {
  if (schema['additionalProperties'] !== undefined) return mapCondition(at, schema, random, depth)
  const properties = Object.entries((schema['properties'] ?? {}) as Record<string, Schema>)
  if (properties.length === 0 || depth > 2) return undefined
  const [name, property] = random.pick(properties)
  const field = `${at}.${escaped(name)}`
  const inner = condition(field, property, random, depth + 1)
  const general = [`has(${field})`, `!has(${field})`]
  if (inner !== undefined && !inner.includes('oldSelf'))
    general.push(`!has(${field}) || ${inner}`, `has(${field}) && ${inner}`, inner, inner)
  if (at === 'self' && inner !== undefined)
    general.push(
      `self.?${escaped(name)}.hasValue()`,
      `has(self.${escaped(name)}) == has(oldSelf.${escaped(name)})`,
      `${field} == oldSelf.${escaped(name)}`,
      'self == oldSelf',
    )
  return random.pick(general)
}

function mapCondition(at: string, schema: Schema, random: RandomChoices, depth: number): string {
  const inner = depth > 1 ? undefined : condition(`${at}[k]`, schema['additionalProperties'] as Schema, random, depth + 1)
  const general = [
    `'a' in ${at}`,
    `${at}.size() < 2`,
    `${at}.all(k, k.size() < 2)`,
    `${at}.exists(k, k == 'b')`,
    `!(${at}.exists(k, k == 'c'))`,
  ]
  if (inner !== undefined && !inner.includes('oldSelf')) general.push(`${at}.all(k, ${inner})`)
  return random.pick(general)
}

/** The name under which CEL reaches a property. */
function escaped(name: string): string {
  return name
    .replaceAll('__', '__underscores__')
    .replaceAll('-', '__dash__')
    .replaceAll('.', '__dot__')
    .replaceAll('/', '__slash__')
}
