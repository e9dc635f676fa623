import { describe, expect, it } from 'vitest'
import type { FieldFile, GroupFile, Markers, TypeFile, VersionFile } from '../../release-facts/facts.ts'
import { type DatedLine, fold, type Line } from '../../release-facts/line-tree.ts'
import { minorsOf, readModel, viewAt } from '../../release-facts/model.ts'
import { modelFolder } from '../../release-facts.ts'
import { markersOf } from './markers.ts'
import { ruleFolders, ruleModules } from './module.ts'
import { firstEnforcing, ruleLines } from './rule-lines.ts'

const string = { scalar: 'string' } as const

interface SampleField extends Partial<FieldFile> {
  readonly markers?: Markers
}

/** A group with a kind `T` of these fields, and with other types. */
function group(fields: Readonly<Record<string, SampleField>>, rest: Partial<VersionFile> = {}): ReadonlyMap<string, GroupFile> {
  const structs = Object.entries({ T: { fields: fieldsOf(fields) }, ...rest.types })
  const version = {
    ...{ goPackage: 'k8s.io/api/shop/v1', protoPackage: '', openapiPrefix: '', served: true, resources: {}, enums: {} },
    ...rest,
    types: Object.fromEntries(structs) as Record<string, TypeFile>,
    kinds: { T: { metadata: 'object' as const } },
  }
  return new Map([['shop', { group: 'shop.example.com', versions: { v1: version } }]])
}

function fieldsOf(fields: Readonly<Record<string, SampleField>>): FieldFile[] {
  return Object.entries(fields).map(([json, { markers, ...rest }]) => ({
    ...{ json, go: json, type: string },
    ...rest,
    ...(markers === undefined ? {} : { validation: markers }),
  }))
}

/** The lines of types. */
function rules(...args: Parameters<typeof group>): string[] {
  const versions = ruleLines(group(...args), 37).get('shop') ?? []
  return versions.flatMap(({ lines }) =>
    lines.map(({ text, lines: parts }) => [text, ...parts.map((part) => part.text)].join(' ')),
  )
}

const ofField = (markers: Markers, rest: Partial<FieldFile> = {}) => rules({ a: { ...rest, markers } })

describe('markers', () => {
  it('are read with their levels, arguments and payloads', () => {
    const read = markersOf({
      'k8s:beta(since: "1.37")': '+k8s:item(type: "A")=+k8s:maxItems=8 # some',
      'kubebuilder:default': '""',
    })
    expect(read).toEqual([
      {
        ...{ name: 'item', args: [{ name: 'type', value: 'A' }], value: '', level: 'beta' },
        inner: { name: 'maxItems', args: [], value: '8', level: '' },
      },
    ])
  })

  it('are in the order of their outer names', () => {
    const read = markersOf({
      'k8s:maxItems': '1',
      'k8s:beta': ['+k8s:required', '+k8s:immutable'],
      'k8s:alpha(since:"1.37")': '+k8s:optional',
    })
    expect(read.map(({ name, level }) => `${level} ${name}`.trim())).toEqual([
      'alpha optional',
      'beta required',
      'beta immutable',
      'maxItems',
    ])
  })
})

describe('the rules of a field', () => {
  it.each([
    [{ 'k8s:required': '', 'k8s:format': '"k8s-uuid"' }, {}, ['T;/ a=required;format(k8s-uuid)']],
    [{ 'k8s:minimum': '0', 'k8s:immutable': '' }, { pointer: true }, ['T;/ a*=immutable;minimum(0)']],
    [{ 'k8s:optional': '', 'k8s:minimum': '0' }, { default: 0 }, ['T;/ a=minimum(0)']],
    [{ 'k8s:optional': '', 'k8s:minimum': '0' }, { default: 1 }, ['T;/ a=required;minimum(0)']],
    [{ 'k8s:optional': '', 'k8s:minimum': '0' }, { default: 0, pointer: true }, ['T;/ a*=required;minimum(0)']],
    [{ 'k8s:optional': '' }, {}, []],
    [{ 'k8s:alpha': '+k8s:required' }, {}, []],
    [{ 'k8s:alpha': ['+k8s:required', '+k8s:maxBytes=1'], 'k8s:beta': '+k8s:maxBytes=2' }, {}, ['T;/ a=?required;%maxBytes(2)']],
    [
      { 'k8s:ifDisabled(G)': '+k8s:forbidden', 'k8s:ifEnabled("G")': '+k8s:required' },
      {},
      ['T;/ a=off(G:forbidden);on(G:required)'],
    ],
    [{ 'k8s:update': ['NoModify', 'NoSet'] }, {}, ['T;/ a=update(NoSet,NoModify)']],
    [{ 'k8s:customValidation': '' }, {}, ['T;/ a=custom']],
    [{ 'k8s:unionMember': '' }, { pointer: true }, ['T;/ =union(a*)']],
  ])('%j with %j', (markers, rest, expected) => {
    expect(ofField(markers as unknown as Markers, rest)).toEqual(expected)
  })

  it.each([
    [{ 'k8s:listType': 'map', 'k8s:listMapKey': ['x', 'y'], 'k8s:maxItems': '2' }, ['T;/ a[x,y]=maxItems(2);unique']],
    [{ 'k8s:beta': ['+k8s:unique=set', '+k8s:maxItems=2'], 'k8s:listType': 'atomic' }, ['T;/ a[.]=%maxItems(2);%unique']],
    [{ 'k8s:listType': 'set', 'k8s:customUnique': '', 'k8s:maxItems': '1' }, ['T;/ a[.]=maxItems(1)']],
    [{ 'k8s:eachVal': '+k8s:maxBytes=1' }, ['T;/ a[]=each(maxBytes(1))']],
    [{ 'k8s:beta': ['+k8s:item(type: "A")=+k8s:zeroOrOneOfMember'] }, ['T;/ a[]=%zeroOrOneOf(a:type=A)']],
  ])('of a list: %j', (markers, expected) => {
    expect(ofField(markers as unknown as Markers, { type: { list: string } })).toEqual(expected)
  })

  it('of metadata are those of its name', () => {
    const type = { ref: 'meta/v1.ObjectMeta' }
    const markers = { 'k8s:subfield(name)': ['+k8s:optional', '+k8s:format=k8s-long-name'] }
    expect(rules({ metadata: { type, markers } })).toEqual(['T;/ metadata=|sub(name:optional);sub(name:format(k8s-long-name))'])
  })

  it.each([
    [{ 'k8s:other': '' }, {}, 'the marker other is not known'],
    [{ 'k8s:required': '' }, { type: { ref: 'shop/v1.T' } }, 'a struct cannot be required'],
    [{ 'k8s:update': 'NoOther' }, {}, 'NoOther is not known'],
    [{ 'k8s:update': 'NoAddItem' }, { type: { list: string } }, 'the items of the list have no identity'],
    [{ 'k8s:subfield(name)': '+k8s:required' }, {}, 'rules of the member name are not known'],
    [{ 'k8s:ifMode("A")': '+k8s:required' }, {}, 'the modes of a have no discriminator'],
  ])('are refused: %j with %j', (markers, rest, text) => {
    expect(() => ofField(markers as unknown as Markers, rest)).toThrow(text)
  })
})

describe('the rules of types', () => {
  it('have modes', () => {
    const mode = { markers: { 'k8s:beta': '+k8s:modeDiscriminator' } }
    const a = { pointer: true, markers: { 'k8s:beta': '+k8s:ifMode("On")=+k8s:required' } }
    expect(rules({ mode, a })).toEqual(['T;/ =mode(mode,a*,:%forbidden,On:%required)'])
  })

  it('follow the types of fields, but for those that are marked as opaque', () => {
    const types = { S: { fields: fieldsOf({ x: { markers: { 'k8s:required': '' } } }) }, Plain: { fields: fieldsOf({ x: {} }) } }
    const ref = { type: { ref: 'shop/v1.S' } }
    const opaque = { ...ref, markers: { 'k8s:opaqueType': '' } }
    const fields = { a: ref, b: opaque, c: { type: { ref: 'shop/v1.Plain' } }, d: { type: { list: ref.type } } }
    expect(rules(fields, { types })).toEqual(['S x=required', 'T;/ a>S d[]>S'])
  })

  it('have the values of enumerations in order', () => {
    const more = { enums: { E: ['b', 'a'] }, stringRules: { E: { 'k8s:enum': '' } } }
    expect(rules({ a: { type: { enum: 'shop/v1.E', scalar: 'string' } } }, more)).toEqual(['E =enum(a,b)', 'T;/ a>E'])
  })
})

describe('the rules of the model', () => {
  const model = readModel(modelFolder)

  it('are made of all markers of releases that enforce them', () => {
    for (const minor of minorsOf(model).filter((each) => each >= firstEnforcing)) {
      expect(ruleLines(viewAt(model, minor).groups, minor).size, `1.${minor}`).toBeGreaterThan(0)
    }
  })

  it('give back each release', () => {
    const lines = [36, 37].map((minor) => ruleLines(viewAt(model, minor).groups, minor).get('resource')!)
    const folded = lines.reduce<DatedLine[]>(
      (known, each, i) => fold(known, each as readonly Line[], i === 0 ? undefined : 37),
      [],
    )
    expect(folded.length).toBeGreaterThan(0)
    expect(ruleFolders(model).get('resource')).toMatch(/^37- \/v1\n/)
  })

  it('are written as a module for each group', () => {
    const files = ruleModules(model)
    expect(files.get('rbac.generated.ts')).toContain('PolicyRule verbs[]=%required')
    expect(files.get('index.generated.ts')).toContain("rbac: () => import('./rbac.generated.ts')")
  })
})
