import type { RandomChoices } from '@krmkit/base/random-choices'
import type { JsonValue } from '@krmkit/meta'
import { definitions } from '../types.ts'
import { badRules, randomRules } from './rules.ts'
import { randomSchema, type Schema } from './schemas.ts'
import { mutate } from './values.ts'

/** Changes of definitions that validation mostly refuses. */

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
  { shortNames: ['widget'] },
  { shortNames: ['widget'], singular: 'wid' },
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
  {
    conversion: {
      strategy: 'Webhook',
      webhook: {
        conversionReviewVersions: ['v1'],
        clientConfig: {
          url: 'https://a.example/x',
          caBundle: Buffer.from('-----BEGIN A-----\nMIIB\n-----END A-----\n').toString('base64'),
        },
      },
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
          '',
          false,
          { apiVersion: 'v1', kind: 'A', metadata: { name: 'a', unknown: 1 } },
          [{ name: 'a' }, { name: 'a' }],
        ]),
      })
      return
    case 3:
      delete node[random.pick([...Object.keys(node), 'type'])]
      return
    default:
      Object.assign(node, structuredClone(random.pick(keywordDamages)))
      if (random.chance(15)) node['x-kubernetes-validations'] = [structuredClone(random.pick(badRules))]
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
  { additionalItems: false },
  { patternProperties: { a: { type: 'string' } } },
  { definitions: { a: {} } },
  { dependencies: { a: ['b'] } },
  { dependencies: { a: { type: 'x' } } },
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
  { 'x-kubernetes-list-type': '' },
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
