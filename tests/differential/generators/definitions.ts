import type { JsonValue } from '@krmkit/meta'
import type { RandomChoices } from '@krmkit/meta/random-choices'
import type { Scenario, Step } from '../scenario.ts'
import { definitions } from '../types.ts'
import { badRules, randomRules } from './rules.ts'
import { randomRootSchema, randomSchema, type Schema } from './schemas.ts'
import { mutate } from './values.ts'

export const definitionsPath = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
export const group = '{id}.example.com'

/** Time in which a definition is established and served, in milliseconds. */
export const establishMs = 1200

/** A valid definition. */
export function randomDefinition(random: RandomChoices, plural: string): Schema {
  const kind = plural.charAt(0).toUpperCase() + plural.slice(1, -1)
  const names: Schema = { plural, singular: plural.slice(0, -1), kind, listKind: `${kind}List` }
  if (random.chance(30)) names['shortNames'] = [plural.slice(0, 2)]
  if (random.chance(20)) names['categories'] = ['all']
  const versions: JsonValue[] = [randomVersion('v1', random, { served: true, storage: true })]
  if (random.chance(30))
    versions.push(randomVersion(random.pick(['v1beta1', 'v2', 'foo']), random, { served: random.chance(80), storage: false }))
  const spec: Schema = { group, scope: random.chance(80) ? 'Namespaced' : 'Cluster', names, versions }
  if (random.chance(10)) spec['conversion'] = { strategy: 'None' }
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}` },
    spec,
  }
}

function randomVersion(name: string, random: RandomChoices, flags: Schema): Schema {
  const version: Schema = { name, ...flags, schema: { openAPIV3Schema: randomRootSchema(random) } }
  const subresources: Schema = {}
  if (random.chance(60)) subresources['status'] = {}
  if (random.chance(35))
    subresources['scale'] = {
      specReplicasPath: '.spec.replicas',
      statusReplicasPath: '.status.replicas',
      ...(random.chance(50) ? { labelSelectorPath: '.status.selector' } : {}),
    }
  if (Object.keys(subresources).length > 0) version['subresources'] = subresources
  if (random.chance(50)) version['additionalPrinterColumns'] = randomColumns(random)
  if (random.chance(25)) version['selectableFields'] = [{ jsonPath: '.spec.replicas' }]
  if (random.chance(10))
    Object.assign(version, { deprecated: true, ...(random.chance(50) ? { deprecationWarning: 'old, use another' } : {}) })
  return version
}

function randomColumns(random: RandomChoices): JsonValue {
  const columns: Schema[] = [
    { name: 'Replicas', type: 'integer', jsonPath: '.spec.replicas' },
    { name: 'Name2', type: 'string', jsonPath: '.spec.name', priority: 1 },
    { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
    { name: 'Phase', type: 'string', jsonPath: '.status.phase', description: 'the phase' },
    { name: 'Tags', type: 'string', jsonPath: '.spec.tags' },
    { name: 'First', type: 'string', jsonPath: '.spec.tags[0]' },
    { name: 'All', type: 'string', jsonPath: '.spec.tags[*]' },
    { name: 'Size', type: 'number', jsonPath: '.spec.size', format: 'double' },
    { name: 'Size', type: 'integer', jsonPath: '.spec.size', format: 'int32' },
    { name: 'On', type: 'boolean', jsonPath: '.spec.enabled' },
    { name: 'Ready', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].status' },
    { name: 'Limits', type: 'string', jsonPath: '.spec.limits' },
    { name: 'L', type: 'date', jsonPath: '.spec.name' },
    { name: 'Quoted', type: 'string', jsonPath: ".spec['b-c']" },
  ]
  return columns.filter(() => random.chance(30)).slice(0, 5)
}

/** Creations of definitions, their conditions, and updates. */
export function generateDefinitions(random: RandomChoices): Scenario {
  const steps: Step[] = []
  for (let i = 0; i < 6; i++) steps.push(damagedCreation(random, i))
  const valid = randomDefinition(random, 'widgets')
  const path = `${definitionsPath}/widgets.${group}`
  steps.push({
    id: 'create',
    method: 'POST',
    path: definitionsPath,
    body: { json: structuredClone(valid) },
    settleMs: establishMs,
  })
  steps.push({ id: 'get', method: 'GET', path })
  steps.push({ id: 'resources', method: 'GET', path: `/apis/${group}/v1` })
  if (random.chance(30)) steps.push(...namesConflict(random))
  let last = 'get'
  for (let i = 0; i < 4; i++) {
    const next = structuredClone(valid)
    if (random.chance(85)) damageDefinition(next, random)
    const metadata = next['metadata'] as Schema
    if (random.chance(95)) metadata['resourceVersion'] = `{${last}.metadata.resourceVersion}`
    const target = random.chance(12) ? `${path}/status` : path
    if (target !== path) next['status'] = randomStatus(random)
    steps.push({ id: `update${i}`, method: 'PUT', path: target, query: validation(random), body: { json: next }, settleMs: 400 })
    last = `get${i}`
    steps.push({ id: last, method: 'GET', path, ...(random.chance(20) ? { headers: { accept: tableType } } : {}) })
    // A Table has no version to go on from.
    if (steps.at(-1)?.headers !== undefined) {
      last = `again${i}`
      steps.push({ id: last, method: 'GET', path })
    }
  }
  return { area: 'definitions', namespace: false, steps }
}

export const tableType = 'application/json;as=Table;g=meta.k8s.io;v=v1'

function validation(random: RandomChoices): [string, string][] {
  return random.chance(30) ? [['fieldValidation', random.pick(['Strict', 'Warn', 'Ignore'])]] : []
}

function damagedCreation(random: RandomChoices, i: number): Step {
  const plural = `things${'abcdef'.charAt(i)}s`
  const definition = randomDefinition(random, plural)
  for (let changes = random.pick([0, 1, 1, 1, 2, 3]); changes > 0; changes--) damageDefinition(definition, random)
  const query: [string, string][] = [['dryRun', 'All'], ...validation(random)]
  return { id: `create${i}`, method: 'POST', path: definitionsPath, query, body: { json: definition } }
}

function randomStatus(random: RandomChoices): JsonValue {
  return random.pick<JsonValue>([
    {},
    { storedVersions: ['v1'] },
    { storedVersions: [] },
    { storedVersions: ['v1', 'v9'] },
    { conditions: [{ type: 'Established', status: 'False', reason: 'x', message: 'y' }], storedVersions: ['v1'] },
    { acceptedNames: { plural: 'others', kind: 'Other' }, storedVersions: ['v1'] },
  ])
}

/** A second definition of the group whose names are taken. */
function namesConflict(random: RandomChoices): Step[] {
  const other = randomDefinition(random, 'gadgets')
  const names = (other['spec'] as Schema)['names'] as Schema
  Object.assign(
    names,
    random.pick<Schema>([
      { kind: 'Widget' },
      { singular: 'widget' },
      { shortNames: ['widget'] },
      { listKind: 'WidgetList' },
      { shortNames: ['ga', 'widgets'] },
      { kind: 'Widget', singular: 'widget', listKind: 'WidgetList' },
    ]),
  ) // prettier-ignore
  return [
    { id: 'other', method: 'POST', path: definitionsPath, body: { json: other }, settleMs: establishMs },
    { id: 'conflict', method: 'GET', path: `${definitionsPath}/gadgets.${group}` },
  ]
}

const definitionType = definitions.find(({ resource }) => resource.name === 'customresourcedefinitions')?.kind.type()

/** One change of a definition that validation mostly refuses; in place. */
export function damageDefinition(definition: Schema, random: RandomChoices): void {
  if (random.chance(15) && definitionType !== undefined) {
    mutate(definition, definitionType, random)
    return
  }
  const spec = definition['spec'] as Schema | null | undefined
  const versions = spec?.['versions']
  if (typeof spec !== 'object' || spec === null || !Array.isArray(versions) || versions.length === 0) return
  const version = random.pick(versions) as Schema
  if (typeof version !== 'object' || version === null) return
  switch (random.below(9)) {
    case 0:
    case 1:
      Object.assign(version, structuredClone(random.pick(versionDamages)))
      return
    case 2:
      Object.assign(spec['names'] as Schema, structuredClone(random.pick(nameDamages)))
      return
    case 3:
      Object.assign(spec, structuredClone(random.pick(specDamages)))
      return
    default:
      damageSchema(version, random)
  }
}

const versionDamages: readonly Schema[] = [
  { storage: false },
  { storage: true },
  { served: false },
  { name: 'V1' },
  { name: 'v1' },
  { name: '' },
  { name: '-' },
  { schema: {} },
  { schema: null },
  { schema: { openAPIV3Schema: {} } },
  { schema: { openAPIV3Schema: { type: 'string' } } },
  { schema: { openAPIV3Schema: { type: 'object', nullable: true } } },
  {
    schema: {
      openAPIV3Schema: {
        type: 'object',
        properties: { metadata: { type: 'object', properties: { labels: { type: 'object' } } } },
      },
    },
  },
  {
    schema: {
      openAPIV3Schema: {
        type: 'object',
        properties: { apiVersion: { type: 'integer' }, kind: { type: 'string', maxLength: 3 } },
      },
    },
  },
  { subresources: { scale: {} } },
  { subresources: { scale: { specReplicasPath: 'spec.replicas', statusReplicasPath: '.status.replicas' } } },
  {
    subresources: {
      scale: { specReplicasPath: '.spec.x[0]', statusReplicasPath: '.spec.replicas', labelSelectorPath: '.metadata.x' },
    },
  },
  { subresources: { scale: { specReplicasPath: '.spec', statusReplicasPath: '.status', labelSelectorPath: 'x' } } },
  { subresources: { status: { a: 1 } } },
  { additionalPrinterColumns: [{ name: '', type: 'string', jsonPath: '.a' }] },
  { additionalPrinterColumns: [{ name: 'A', type: 'text', jsonPath: '.a' }] },
  { additionalPrinterColumns: [{ name: 'A', type: 'string', jsonPath: 'a' }] },
  { additionalPrinterColumns: [{ name: 'A', type: 'string', jsonPath: '.a[' }] },
  { additionalPrinterColumns: [{ name: 'A', type: 'string', format: 'x', jsonPath: '.a' }] },
  { additionalPrinterColumns: [{ name: 'A', type: '', jsonPath: '' }] },
  { additionalPrinterColumns: [] },
  { selectableFields: [{ jsonPath: '.spec.missing' }] },
  { selectableFields: [{ jsonPath: '.spec' }] },
  { selectableFields: [{ jsonPath: '' }] },
  { selectableFields: [{ jsonPath: 'spec.replicas' }] },
  { selectableFields: [{ jsonPath: '.metadata.name' }] },
  { selectableFields: [{ jsonPath: '.spec.replicas' }, { jsonPath: '.spec.replicas' }] },
  { selectableFields: [{ jsonPath: '.spec.tags[0]' }] },
  { selectableFields: [{ jsonPath: '.status.phase' }] },
  { selectableFields: [{ jsonPath: ".spec['replicas']" }] },
  { selectableFields: Array.from({ length: 9 }, (_, i) => ({ jsonPath: `.spec.f${i}` })) },
  { deprecationWarning: 'x' },
  { deprecated: true, deprecationWarning: '' },
  { deprecated: true, deprecationWarning: 'a\nb' },
  { deprecated: true, deprecationWarning: 'x'.repeat(257) },
] // prettier-ignore

const nameDamages: readonly Schema[] = [
  { plural: 'Others' },
  { plural: 'others' },
  { plural: '' },
  { kind: 'lower' },
  { kind: '' },
  { kind: 'A B' },
  { kind: '1a' },
  { kind: 'x'.repeat(64) },
  { listKind: 'Widget' },
  { listKind: 'bad_kind' },
  { singular: 'Upper' },
  { singular: 'a.b' },
  { shortNames: ['A'] },
  { shortNames: ['a.b', ''] },
  { shortNames: ['w', 'w'] },
  { categories: ['All', 'x y'] },
  { categories: [''] },
]

const specDamages: readonly Schema[] = [
  { group: 'Upper.example.com' },
  { group: 'nodot' },
  { group: '' },
  { group: 'a.k8s.io' },
  { scope: 'Other' },
  { scope: '' },
  { scope: 'Cluster' },
  { scope: 'Namespaced' },
  { versions: [] },
  { versions: null },
  { preserveUnknownFields: true },
  { preserveUnknownFields: false },
  { conversion: { strategy: 'Other' } },
  { conversion: {} },
  { conversion: { strategy: 'Webhook' } },
  { conversion: { strategy: 'Webhook', webhook: { conversionReviewVersions: ['v1'] } } },
  {
    conversion: { strategy: 'Webhook', webhook: { conversionReviewVersions: [], clientConfig: { url: 'https://a.example/x' } } },
  },
  {
    conversion: { strategy: 'Webhook', webhook: { conversionReviewVersions: ['v2'], clientConfig: { url: 'http://a.example' } } },
  },
  {
    conversion: {
      strategy: 'Webhook',
      webhook: { conversionReviewVersions: ['v1', 'v1'], clientConfig: { url: 'https://a?b=c' } },
    },
  },
  {
    conversion: {
      strategy: 'Webhook',
      webhook: { conversionReviewVersions: ['v1'], clientConfig: { service: { name: '', namespace: '' } } },
    },
  },
  {
    conversion: {
      strategy: 'Webhook',
      webhook: { conversionReviewVersions: ['v1'], clientConfig: { service: { name: 'a', namespace: 'b', port: 0, path: 'x' } } },
    },
  },
  {
    conversion: {
      strategy: 'Webhook',
      webhook: { conversionReviewVersions: ['v1'], clientConfig: { url: 'https://a.example/x', caBundle: 'YQ==' } },
    },
  },
  { conversion: { strategy: 'None', webhook: { conversionReviewVersions: ['v1'] } } },
] // prettier-ignore

/** Sets one keyword somewhere in the schema of a version. */
function damageSchema(version: Schema, random: RandomChoices): void {
  const root = (version['schema'] as Schema | null | undefined)?.['openAPIV3Schema']
  if (typeof root !== 'object' || root === null || Array.isArray(root)) return
  const nodes = [...schemaNodes(root as Schema)]
  const node = random.pick(nodes)
  switch (random.below(6)) {
    case 0:
      node['x-kubernetes-validations'] = [
        structuredClone(random.pick(badRules)),
        ...(random.chance(20) ? [structuredClone(random.pick(badRules))] : []),
      ]
      return
    case 1: {
      const rules = randomRules(node, random)
      if (rules.length > 0) node['x-kubernetes-validations'] = rules
      // Without bounds the estimated cost grows beyond its limits.
      for (const bound of ['maxItems', 'maxLength', 'maxProperties'])
        for (const each of nodes) if (random.chance(60)) delete each[bound]
      return
    }
    case 2:
      Object.assign(node, {
        default: random.pick<JsonValue>([
          null,
          1,
          'a',
          {},
          [],
          { a: 1 },
          [1],
          true,
          { unknown: 1 },
          '2024',
          [{ name: 'a' }, { name: 'a' }],
        ]),
      })
      return
    case 3:
      delete node[random.pick([...Object.keys(node), 'type'])]
      return
    default:
      Object.assign(node, structuredClone(random.pick(keywordDamages)))
      if (random.chance(25)) Object.assign(node, structuredClone(random.pick(keywordDamages)))
      if (random.chance(8)) node['properties'] = { x: randomSchema(random, 3) }
  }
}

function* schemaNodes(schema: Schema): Generator<Schema> {
  yield schema
  for (const child of Object.values((schema['properties'] ?? {}) as Record<string, JsonValue>))
    if (isSchema(child)) yield* schemaNodes(child)
  for (const key of ['items', 'additionalProperties', 'not']) if (isSchema(schema[key])) yield* schemaNodes(schema[key])
}

function isSchema(value: JsonValue | undefined): value is Schema {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

const keywordDamages: readonly Schema[] = [
  { type: 'object' },
  { type: 'string' },
  { type: 'array' },
  { type: 'integer' },
  { type: 'null' },
  { type: 'x' },
  { type: '' },
  { nullable: true },
  { nullable: false },
  { format: 'x' },
  { format: 'int32' },
  { format: '' },
  { id: 'a' },
  { $ref: '#/x' },
  { $schema: 'x' },
  { title: 't' },
  { pattern: '[' },
  { pattern: '(?=a)' },
  { pattern: '' },
  { pattern: 'a{1001}' },
  { minLength: -1 },
  { maxLength: -1 },
  { maxLength: 0 },
  { minLength: 5, maxLength: 3 },
  { minimum: 5, maximum: 3 },
  { multipleOf: 0 },
  { multipleOf: -1 },
  { exclusiveMinimum: true },
  { maxItems: -1 },
  { uniqueItems: true },
  { uniqueItems: false },
  { enum: [] },
  { enum: [null] },
  { enum: ['a', 'a'] },
  { enum: [1, 'a', {}] },
  { required: ['missing'] },
  { required: ['a', 'a'] },
  { required: [''] },
  { required: [] },
  { properties: {} },
  { properties: { a: {} } },
  { properties: { '': { type: 'string' } } },
  { additionalProperties: true },
  { additionalProperties: false },
  { additionalProperties: { type: 'string' } },
  { additionalProperties: {} },
  { additionalItems: true },
  { patternProperties: { a: { type: 'string' } } },
  { definitions: { a: {} } },
  { dependencies: { a: ['b'] } },
  { items: { type: 'string' } },
  { items: [{ type: 'string' }] },
  { items: {} },
  { not: {} },
  { not: { type: 'string' } },
  { not: { properties: { a: { minLength: 1 } } } },
  { allOf: [] },
  { allOf: [{}] },
  { anyOf: [{ type: 'integer' }, { type: 'string' }] },
  { anyOf: [{ required: ['a'] }] },
  { oneOf: [{ properties: { a: { default: 1 } } }] },
  { allOf: [{ description: 'x' }] },
  { allOf: [{ properties: { missing: { minimum: 1 } } }] },
  { anyOf: [{ nullable: true }] },
  { oneOf: [{ additionalProperties: { minimum: 1 } }] },
  { 'x-kubernetes-preserve-unknown-fields': true },
  { 'x-kubernetes-preserve-unknown-fields': false },
  { 'x-kubernetes-embedded-resource': true },
  { 'x-kubernetes-int-or-string': true },
  { 'x-kubernetes-list-type': 'set' },
  { 'x-kubernetes-list-type': 'map' },
  { 'x-kubernetes-list-type': 'atomic' },
  { 'x-kubernetes-list-type': 'x' },
  { 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['name'] },
  { 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['missing'] },
  { 'x-kubernetes-list-map-keys': ['name'] },
  { 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['name', 'name'] },
  { 'x-kubernetes-list-map-keys': [] },
  { 'x-kubernetes-map-type': 'atomic' },
  { 'x-kubernetes-map-type': 'granular' },
  { 'x-kubernetes-map-type': 'x' },
  { 'x-other': 1 },
  { 'x-kubernetes-validations': [] },
  { 'x-kubernetes-validations': [{}] },
  { externalDocs: { url: 'x' } },
  { example: { a: 1 } },
] // prettier-ignore
