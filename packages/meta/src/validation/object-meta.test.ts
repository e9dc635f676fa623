import type { Work } from '@krmkit/base/work'
import { describe, expect, it } from 'vitest'
import names from '../../testdata/names.json' with { type: 'json' }
import vectors from '../../testdata/object-meta.json' with { type: 'json' }
import type { FieldError, ObjectMeta } from '../interfaces.ts'
import { nameRules } from '../names/name-rule.ts'
import { field, formatFieldError } from './field-error.ts'
import { validateFieldManager } from './managed-fields.ts'
import {
  validateAnnotations,
  validateBuiltInObjectMeta,
  validateLabels,
  validateObjectMeta,
  validateObjectMetaUpdate,
} from './object-meta.direct.ts'
import * as paced from './object-meta.ts'
import { maxAnnotationsSize, validateImmutableField } from './object-meta.ts'
import { controllerOf, validateOwnerReferences } from './owner-references.ts'
import { Path } from './path.ts'

interface Vector {
  readonly name: string
  readonly meta: ObjectMeta
  readonly old?: ObjectMeta
  readonly cluster?: boolean
  readonly builtIn?: boolean
  readonly errors: readonly string[]
}

const subdomain = errorOf(names.validateDns1123Subdomain, 'A')
const labelValue = errorOf(names.validateLabelValue, '-a')
const namePart = errorOf(names.validateQualifiedNameFormat, '-a').slice('name part '.length)

describe('validateObjectMeta', () => {
  for (const { name, meta, cluster, builtIn, errors } of vectors.create as unknown as Vector[]) {
    it(`${name} [P5 P11 P18 P19]`, () => {
      const rules = { namespaced: !cluster, name: nameRules.dns1123Subdomain }
      const actual = builtIn ? validateBuiltInObjectMeta(meta, rules) : validateObjectMeta(meta, rules)
      expect(print(actual)).toEqual(errors.map(expand))
    })
  }

  it('validates metadata at another path', () => {
    const rules = { namespaced: false, name: nameRules.any, path: Path.of('spec', 'template', 'metadata') }
    expect(print(validateObjectMeta({}, rules))).toEqual([
      'spec.template.metadata.name: Required value: name or generateName is required',
    ])
  })

  it('limits annotations to 256 KiB of keys and values [P18]', () => {
    const path = Path.of('metadata', 'annotations')
    const fits = { a: 'x'.repeat(maxAnnotationsSize / 2), b: 'é'.repeat(maxAnnotationsSize / 4 - 1) }
    expect(validateAnnotations(fits, path)).toEqual([])
    expect(print(validateAnnotations({ ...fits, c: '' }, path))).toEqual([
      'metadata.annotations: Too long: may not be more than 262144 bytes',
    ])
  })

  it('reads own members of hostile maps', () => {
    const labels = JSON.parse('{"__proto__":"-","constructor":"ok"}') as Record<string, string>
    expect(print(validateLabels(labels, Path.of('l')))).toEqual([
      expand('l: Invalid value: "__proto__": name part $namePart'),
      expand('l: Invalid value: "-": $validateLabelValue'),
    ])
    expect(validateLabels(null, Path.of('l'))).toEqual([])
  })

  it('allows a single controller [P19]', () => {
    const owner = (name: string, controller?: boolean) => ({
      apiVersion: 'v1',
      kind: 'K',
      name,
      uid: name,
      ...(controller !== undefined && { controller }),
    })
    expect(validateOwnerReferences([owner('a', true), owner('b', false), owner('c')], Path.of('o'))).toEqual([])
    const [error, ...more] = validateOwnerReferences([owner('a', true), owner('b', true), owner('c', true)], Path.of('o'))
    expect(error?.field).toBe('o')
    expect(error?.message).toMatch(
      /^Invalid value: \[\]v1\.OwnerReference\{v1\.OwnerReference\{APIVersion:"v1", .*\}: Only one reference/,
    )
    expect(error?.message).toMatch(/ can have Controller set to true\. Found "true" in references for K\/a and K\/b$/)
    expect(more.map(({ message }) => message.slice(-11))).toEqual(['K/a and K/c'])
    expect(controllerOf([owner('a'), owner('b', true)])?.name).toBe('b')
    expect(controllerOf(undefined)).toBeUndefined()
  })

  it('limits field manager names [P20]', () => {
    expect(validateFieldManager('', undefined)).toEqual([])
    expect(validateFieldManager('kubectl-client-side-apply é', undefined)).toEqual([])
    expect(print(validateFieldManager('m'.repeat(129), Path.of('fieldManager')))).toEqual([
      'fieldManager: Too long: may not be more than 128 bytes',
    ])
    expect(print(validateFieldManager('é\t\u200b', Path.of('f')))).toEqual([
      'f: Invalid value: "é\\t\\u200b": invalid character U+0009 (at position 2)',
      'f: Invalid value: "é\\t\\u200b": invalid character U+200B (at position 3)',
    ])
  })
})

describe('large metadata', () => {
  const wide = Object.fromEntries(Array.from({ length: 5000 }, (_, i) => [`k${i}`, i === 4000 ? '-' : 'v']))
  const meta = { name: 'a', labels: wide, annotations: wide }
  const rules = { namespaced: false, name: nameRules.dns1123Subdomain }
  const counted = (work: Work<FieldError[]>): { errors: FieldError[]; yields: number } => {
    for (let yields = 0; ; yields++) {
      const { done, value } = work.next()
      if (done === true) return { errors: value, yields }
    }
  }

  it('is validated with many yields and the same errors', () => {
    const created = counted(paced.validateObjectMeta(meta, rules))
    expect(created.yields).toBeGreaterThan(100)
    expect(created.errors).toEqual(validateObjectMeta(meta, rules))
    expect(created.errors).toHaveLength(1)
    const updated = counted(paced.validateObjectMetaUpdate(meta, { name: 'a' }))
    expect(updated.yields).toBeGreaterThan(100)
    expect(updated.errors).toEqual(validateObjectMetaUpdate(meta, { name: 'a' }))
  })

  it('of ordinary size is validated without a yield', () => {
    const labels = Object.fromEntries(Object.entries(wide).slice(0, 30))
    expect(counted(paced.validateObjectMeta({ ...meta, labels, annotations: labels }, rules)).yields).toBe(0)
  })
})

describe('validateObjectMetaUpdate', () => {
  for (const { name, meta, old, errors } of vectors.update as unknown as Vector[]) {
    it(`${name} [P15 P16]`, () => {
      expect(print(validateObjectMetaUpdate(meta, old as ObjectMeta))).toEqual(errors.map(expand))
    })
  }

  it('compares scalar values', () => {
    expect(validateImmutableField('a', 'a', Path.of('x'))).toEqual([])
    expect(validateImmutableField(undefined, null, Path.of('x'))).toEqual([])
    expect(validateImmutableField(1, 2, Path.of('x'))).toEqual([field.invalid('x', 1, 'field is immutable')])
    expect(validateImmutableField(undefined, 2, Path.of('x'))[0]?.message).toBe('Invalid value: "null": field is immutable')
  })
})

function print(errors: readonly FieldError[]): string[] {
  return errors.map(formatFieldError)
}

function expand(text: string): string {
  return text
    .replace('$validateDns1123Subdomain', subdomain)
    .replace('$validateLabelValue', labelValue)
    .replace('$namePart', namePart)
}

function errorOf(cases: readonly { text: string; errors: readonly string[] }[], text: string): string {
  const [error] = cases.find((it) => it.text === text)?.errors ?? []
  if (error === undefined) throw new Error(`no vector for ${text}`)
  return error
}
