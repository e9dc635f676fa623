import { runAtOnce } from '@krmkit/base/work'
import { formatFieldError } from '@krmkit/meta/validation'
import { describe, expect, it } from 'vitest'
import { problemsOf } from './engine.ts'
import { readRules } from './notation.ts'

const prefix = 'shop/v1.'

interface Case {
  readonly object: unknown
  readonly old?: unknown
  readonly gates?: readonly string[]
  readonly reportsBeta?: boolean
}

/** The errors of an object of the type T. @param lines types; a part without a type is one of T */
function errors(lines: string, { object, old, gates = [], reportsBeta = true }: Case): string[] {
  const rules = readRules('shop', `/v1\nT;/ ${lines}\n`, 37)
  const enabled = (option: string) => gates.includes(option)
  const options = { rules, isUpdate: old !== undefined, reportsBeta, enabled }
  return runAtOnce(problemsOf(`${prefix}T`, object, old, options)).map(({ error }) => formatFieldError(error))
}

/** The errors of a field `a` of a new object, and those of its update. */
const ofField = (rule: string, value: unknown) => errors(`a${rule}`, { object: value === undefined ? {} : { a: value } })
const ofUpdate = (rule: string, old: unknown, value: unknown) =>
  errors(`a${rule}`, { object: value === undefined ? {} : { a: value }, old: old === undefined ? {} : { a: old } })

const required = 'a: Required value'
const labelText =
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')"
const nameText =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
const keyText =
  "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
const cText =
  "a valid C identifier must start with alphabetic character or '_', followed by a string of alphanumeric characters or '_' (e.g. 'my_name',  or 'MY_NAME',  or 'MyName', regex used for validation is '[A-Za-z_][A-Za-z0-9_]*')"

describe('rules of one value', () => {
  it.each([
    ['=required', 'x', []],
    ['=required', undefined, [required]],
    ['=required', '', [required]],
    ['=required', 0, [required]],
    ['*=required', '', []],
    ['*=required', undefined, [required]],
    ['[]=required', [], [required]],
    ['[]=required', ['x'], []],
    ['{}=required', {}, [required]],
    ['=forbidden', undefined, []],
    ['=forbidden', 'x', ['a: Forbidden']],
    ['*=forbidden', 0, ['a: Forbidden']],
    ['=optional;format(k8s-uuid)', '', []],
    ['=optional;format(k8s-uuid)', 'x', ['a: Invalid value: "x": must be a lowercase UUID in 8-4-4-4-12 format']],
    ['*=optional;format(k8s-uuid)', '', ['a: Invalid value: "": must be a lowercase UUID in 8-4-4-4-12 format']],
    ['*=format(k8s-uuid)', undefined, []],
    ['=required;minimum(1)', 0, [required]],
    ['=minimum(1)', undefined, ['a: Invalid value: 0: must be greater than or equal to 1']],
    ['=minimum(1)', 1, []],
    ['*=minimum(-2)', -3, ['a: Invalid value: -3: must be greater than or equal to -2']],
    ['*=minimum(1)', undefined, []],
    ['=maximum(3)', 4, ['a: Invalid value: 4: must be less than or equal to 3']],
    ['=maximum(3)', 3, []],
    ['=neq(x)', 'x', ['a: Invalid value: "x": must not be equal to "x"']],
    ['=neq(3)', 3, ['a: Invalid value: 3: must not be equal to 3']],
    ['=neq(x)', 'y', []],
    ['=minLength(2)', 'ä', ['a: Too short: must be at least 2 characters']],
    ['=minLength(1)', '', ['a: Too short: must be at least 1 character']],
    ['=maxLength(2)', '😀😀', []],
    ['=maxLength(2)', 'abc', ['a: Too long: may not be more than 2 characters']],
    ['=maxBytes(2)', 'äb', ['a: Too long: may not be more than 2 bytes']],
    ['=maxBytes(1)', 'ab', ['a: Too long: may not be more than 1 byte']],
    ['=maxBytes(3)', 'äb', []],
    ['[]=maxItems(1)', [1, 2], ['a: Too many: 2: must have at most 1 item']],
    ['[]=maxItems(2)', [1, 2, 3], ['a: Too many: 3: must have at most 2 items']],
    ['[]=minItems(1)', [], ['a: Too few: 0: must have at least 1 item']],
    ['{}=maxProperties(1)', { x: 1, y: 2 }, ['a: Too many: 2: must have at most 1 item']],
    ['{}=minProperties(2)', { x: 1 }, ['a: Too few: 1: must have at least 2 items']],
    ['=enum(A,B)', 'B', []],
    ['=enum(A,B)', 'C', ['a: Unsupported value: "C": supported values: "A", "B"']],
    ['=required;enum(A)', '', [required]],
  ])('a%s of %j', (rule, value, expected) => {
    expect(ofField(rule, value)).toEqual(expected)
  })

  it.each([
    ['k8s-short-name', 'a-1', []],
    ['k8s-short-name', 'A', [labelText]],
    ['k8s-short-name', 'a.b', ['must not contain dots']],
    ['k8s-short-name', 'a'.repeat(64), ['must be no more than 63 bytes']],
    ['k8s-long-name', 'a.b', []],
    ['k8s-long-name', 'A', [nameText]],
    ['k8s-long-name-caseless', 'A.b', []],
    [
      'k8s-long-name-caseless',
      '.',
      [nameText.replace('a lowercase', 'an').replace('lower case ', '').replace("'example", "'Example")],
    ],
    ['k8s-label-key', 'example.com/A', []],
    [
      'k8s-label-key',
      'a/b/c',
      [`a valid label key ${keyText} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`],
    ],
    ['k8s-label-key', '/a', ['prefix part must be non-empty']],
    ['k8s-label-key', 'a'.repeat(64), ['name part must be no more than 63 bytes']],
    ['k8s-prefixed-label-key', 'example.com/a', []],
    ['k8s-prefixed-label-key', 'a', ["must include a prefix (e.g. 'example.com/key')"]],
    ['k8s-label-value', 'a'.repeat(64), ['must be no more than 63 bytes']],
    ['k8s-path-segment-name', 'a%b', ["may not contain '%'"]],
    ['k8s-uuid', '01234567-89ab-cdef-0123-456789abcdef', []],
    ['k8s-resource-pool-name', 'a/b.c', []],
    ['k8s-extended-resource-name', 'example.com/gpu', []],
    ['k8s-extended-resource-name', 'gpu', ["a name must be a domain-prefixed path, such as 'example.com/my-prop'"]],
    ['k8s-extended-resource-name', 'x.kubernetes.io/gpu', ['must not have "kubernetes.io/" domain']],
    ['k8s-resource-fully-qualified-name', 'example.com/gpu', []],
    ['k8s-resource-fully-qualified-name', 'example.com/g-u', [cText, 'g-u']],
  ])('the format %s of %j', (format, value, details) => {
    const shown = details[1] ?? value
    const expected = details.slice(0, 1).map((detail) => `a: Invalid value: ${JSON.stringify(shown)}: ${detail}`)
    expect(ofField(`=format(${format})`, value)).toEqual(expected)
  })

  it('reports all parts of a name with slashes', () => {
    const texts = ofField('=format(k8s-resource-pool-name)', 'A//b')
    expect(texts).toEqual([
      `a: Invalid value: "A": segment 0: ${nameText}`,
      'a: Invalid value: "A//b": segment 1: must not be empty',
    ])
    expect(ofField('=format(k8s-resource-fully-qualified-name)', 'gpu')).toEqual([
      'a: Invalid value: "gpu": a fully qualified name must be a domain and a name separated by a slash',
    ])
  })

  it('ends a field after all rules that end it', () => {
    expect(ofField('[x]=maxItems(1);required;unique', [{ x: 1 }, { x: 1 }])).toEqual(['a: Too many: 2: must have at most 1 item'])
    expect(ofUpdate('[]=immutable;maxItems(1);minItems(9)', ['x'], ['x', 'y'])).toEqual([
      'a: Invalid value: null: field is immutable',
      'a: Too many: 2: must have at most 1 item',
    ])
  })
})

describe('rules of changes', () => {
  const immutable = 'a: Invalid value: null: field is immutable'
  const set = 'a: Invalid value: null: field cannot be set once created'
  const cleared = 'a: Invalid value: null: field cannot be cleared once set'
  const modified = 'a: Invalid value: null: field cannot be modified once set'
  it.each([
    ['=immutable', 'x', 'x', []],
    ['=immutable', 'x', 'y', [immutable]],
    ['=immutable', undefined, '', []],
    ['*=immutable', undefined, '', [immutable]],
    ['[]=immutable', [], undefined, []],
    ['=update(NoSet)', undefined, 'x', [set]],
    ['=update(NoUnset)', 'x', undefined, [cleared]],
    ['=update(NoModify)', 'x', 'y', [modified]],
    ['=update(NoModify)', undefined, 'y', []],
    ['*=update(NoUnset,NoModify)', 1, 2, [modified]],
    ['*=update(NoUnset,NoModify)', 1, undefined, [cleared]],
    ['*=monotonic', 2, 1, ['a: Invalid value: 1: may not be decreased from 2']],
    ['*=monotonic', 1, 2, []],
    ['*=monotonic', undefined, 2, []],
    ['=minimum(1)', -1, -1, []],
    ['=minimum(1)', -1, -2, ['a: Invalid value: -2: must be greater than or equal to 1']],
    ['[x]=update(NoAddItem)', [{ x: 1 }], [{ x: 1 }, { x: 2 }], ['a[1]: Forbidden: item may not be added']],
    ['[x]=update(NoRemoveItem)', [{ x: 1 }, { x: 2 }], [{ x: 2 }], ['a: Forbidden: item may not be removed']],
    ['[x]=update(NoAddItem,NoRemoveItem)', [{ x: 1 }], [{ x: 1, y: 2 }], []],
    ['{}=update(NoAddItem)', { x: 1 }, { x: 1, y: 1 }, ['a[y]: Forbidden: item may not be added']],
    ['{}=update(NoRemoveItem)', { x: 1 }, { y: 1 }, ['a[x]: Forbidden: item may not be removed']],
  ])('a%s from %j to %j', (rule, old, value, expected) => {
    expect(ofUpdate(rule, old, value)).toEqual(expected)
  })

  it('does not apply to new objects', () => {
    expect(ofField('=immutable', 'x')).toEqual([])
    expect(ofField('=update(NoSet)', 'x')).toEqual([])
  })
})

describe('rules of lists and maps', () => {
  it('finds items that occur again', () => {
    expect(
      ofField('[x,y]=unique', [
        { x: 1, y: 1 },
        { x: 1, y: 2 },
        { x: 1, y: 1, z: '<' },
      ]),
    ).toEqual(['a[2]: Duplicate value: {"x":1,"y":1,"z":"\\u003c"}'])
    expect(ofField('[.]=unique', ['x', 'y', 'x', 'x'])).toEqual(['a[2]: Duplicate value: "x"', 'a[3]: Duplicate value: "x"'])
  })

  it('validates values and keys', () => {
    expect(ofField('[.]=each(maxBytes(1))', ['x', 'yy'])).toEqual(['a[1]: Too long: may not be more than 1 byte'])
    expect(ofField('{}=each(maxBytes(1))', { k: 'yy' })).toEqual(['a[k]: Too long: may not be more than 1 byte'])
    expect(ofField('{}=key(format(k8s-short-name))', { 'k.k': 1 })).toEqual(['a: Invalid value: "k.k": must not contain dots'])
  })

  it('validates again what an update changes', () => {
    expect(ofUpdate('[.]=each(maxBytes(1))', ['xx'], ['xx', 'yy'])).toEqual(['a[1]: Too long: may not be more than 1 byte'])
    expect(ofUpdate('[]=each(maxBytes(1))', ['xx'], ['xx', 'y'])).toEqual(['a[0]: Too long: may not be more than 1 byte'])
    expect(ofUpdate('{}=key(maxBytes(1))', { xx: 1 }, { xx: 2, yy: 1 })).toEqual(['a: Too long: may not be more than 1 byte'])
  })

  it('validates one item', () => {
    const rule = '[type]=|item(type=A:immutable)'
    const list = (type: string, reason: string) => [{ type: 'B' }, { type, reason }]
    expect(ofUpdate(rule, list('A', 'x'), list('A', 'y'))).toEqual(['a[1]: Invalid value: null: field is immutable'])
    expect(ofUpdate(rule, list('C', 'x'), list('C', 'y'))).toEqual([])
  })

  it('validates items by the rules of their type', () => {
    const types = 'a[name]>I b{}>I c*>I d>I\nI name=required n=minimum(1)'
    expect(errors(types, { object: { a: [{ name: 'x', n: 1 }, {}], b: { k: { n: 1 } } } })).toEqual([
      'a[1].name: Required value',
      'a[1].n: Invalid value: 0: must be greater than or equal to 1',
      'b[k].name: Required value',
      'd.name: Required value',
      'd.n: Invalid value: 0: must be greater than or equal to 1',
    ])
    const old = { a: [{ name: 'x' }, { name: 'y' }], d: {} }
    expect(errors(types, { old, object: { a: [{ name: 'y' }, { name: 'x', n: -1 }] } })).toEqual([
      'a[1].n: Invalid value: -1: must be greater than or equal to 1',
    ])
  })
})

describe('rules of several fields', () => {
  it('has exactly one member of a union', () => {
    expect(errors('=union(a*,b)', { object: { a: {} } })).toEqual([])
    expect(errors('=union(a*,b)', { object: { b: '' } })).toEqual(['<nil>: Invalid value: "": must specify one of: `a`, `b`'])
    expect(errors('s>S\nS =union(a*,b)', { object: { s: { a: {}, b: 'x' } } })).toEqual([
      's: Invalid value: "{a, b}": must specify exactly one of: `a`, `b`',
    ])
  })

  it('keeps a union whose members an update leaves as they are', () => {
    const both = { a: {}, b: 'x' }
    expect(errors('=union(a*,b)', { old: both, object: { ...both, b: 'y' } })).toEqual([])
    expect(errors('=union(a*,b)', { old: { a: {} }, object: both })).toHaveLength(1)
  })

  it('has at most one item of several', () => {
    const rule = '[type]=zeroOrOneOf(a:type=A,a:type=B)'
    expect(ofField(rule, [{ type: 'A' }])).toEqual([])
    expect(ofField(rule, [])).toEqual([])
    expect(ofField(rule, [{ type: 'A' }, { type: 'B' }])).toEqual([
      'a: Invalid value: "{a[{\\"type\\": \\"A\\"}], a[{\\"type\\": \\"B\\"}]}": must specify at most one of: `a[{"type": "A"}]`, `a[{"type": "B"}]`',
    ])
  })

  it('depends on another field', () => {
    expect(errors('=dependentRequired(a,b*)', { object: { a: 'x' } })).toEqual(['b: Required value: must be set when a is set'])
    expect(errors('=dependentRequired(a,b*)', { object: { a: 'x', b: 0 } })).toEqual([])
    expect(errors('=dependentForbidden(a,b*)', { object: { a: 'x', b: 0 } })).toEqual([
      'b: Forbidden: may not be set when a is set',
    ])
    expect(errors('=dependentRequired(a,b*)', { old: { a: 'x' }, object: { a: 'y' } })).toEqual([])
  })

  it('depends on a mode', () => {
    const rule = '=mode(type,a*,:forbidden,On:required)'
    expect(errors(rule, { object: { type: 'On' } })).toEqual(['a: Required value'])
    expect(errors(rule, { object: { type: 'Off', a: {} } })).toEqual(['a: Forbidden'])
    expect(errors(rule, { object: { type: 'Off' } })).toEqual([])
    expect(errors(rule, { old: { type: 'On' }, object: { type: 'On', b: 1 } })).toEqual([])
  })
})

describe('conditions', () => {
  it('depends on a gate', () => {
    const rule = 'a*=off(G:forbidden);on(G:required)'
    expect(errors(rule, { object: { a: 1 } })).toEqual(['a: Forbidden'])
    expect(errors(rule, { object: {} })).toEqual([])
    expect(errors(rule, { object: {}, gates: ['G'] })).toEqual(['a: Required value'])
  })

  it('ends the rules of a member alone', () => {
    const rule = 'a=|sub(name:optional);sub(name:format(k8s-short-name))|sub(other:required)'
    expect(errors(rule, { object: { a: {} } })).toEqual(['a.other: Required value'])
    expect(errors(rule, { object: { a: { name: 'A', other: 'x' } } })).toEqual([`a.name: Invalid value: "A": ${labelText}`])
  })

  it('reports no rules of the level alpha, which end a field nevertheless, and those of beta by choice', () => {
    expect(ofField('=?required;minimum(1)', 0)).toEqual([])
    expect(ofField('=?required;minimum(1)', -1)).toHaveLength(1)
    expect(errors('a=%required;minimum(1)', { object: {}, reportsBeta: false })).toEqual([])
    expect(ofField('=%required', 0)).toEqual([required])
  })

  it('ends with the thousandth error', () => {
    const a = Array.from({ length: 5000 }, () => ({}))
    expect(errors('a[]>I\nI x=required', { object: { a } })).toHaveLength(1000)
  })
})

describe('large objects', () => {
  it('are validated in slices, in about linear time', () => {
    const count = 50_000
    const items = (n: number) => Array.from({ length: n }, (_, i) => ({ name: `n${i}`, n: 1 }))
    const rules = readRules('shop', '/v1\nT;/ a[name]=unique;update(NoAddItem)>I\nI name=required n=minimum(1)\n', 37)
    const [old, object] = [{ a: items(count) }, { a: [...items(count).reverse(), { name: 'x', n: 0 }] }]
    const options = { rules, isUpdate: true, reportsBeta: true, enabled: () => false }
    const work = problemsOf(`${prefix}T`, object, old, options)
    let pauses = 0
    let step = work.next()
    for (; step.done !== true; step = work.next()) pauses++
    expect(pauses).toBeGreaterThan(count / 100)
    expect(step.value.map(({ error }) => formatFieldError(error))).toEqual([`a[${count}]: Forbidden: item may not be added`])
  })
})
