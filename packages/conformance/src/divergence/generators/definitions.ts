import type { RandomChoices } from '@krmkit/base/random-choices'
import type { JsonValue } from '@krmkit/meta'
import type { Scenario, Step } from '../scenario.ts'
import { damageDefinition } from './definition-damage.ts'
import { randomRootSchema, type Schema } from './schemas.ts'

export const definitionsPath = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
export const group = '{id}.example.com'

/** Waits until a definition with this plural name is served; one whose names conflict never is. */
export function served(plural: string): Pick<Step, 'until'> {
  return { until: { step: { method: 'GET', path: `/apis/${group}/v1` }, shows: `"name":"${plural}"` } }
}

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
  if (random.chance(50)) version['additionalPrinterColumns'] = randomColumns(random).filter(hasOrder(version))
  if (random.chance(25)) version['selectableFields'] = [{ jsonPath: '.spec.replicas' }]
  if (random.chance(10))
    Object.assign(version, { deprecated: true, ...(random.chance(50) ? { deprecationWarning: 'old, use another' } : {}) })
  return version
}

/** kube-apiserver visits the values of an object in random order. */
function hasOrder({ schema }: Schema): (column: Schema) => boolean {
  const root = (schema as Schema)['openAPIV3Schema'] as { properties?: { spec?: { properties?: Record<string, Schema> } } }
  const isList = root.properties?.spec?.properties?.['tags']?.['type'] === 'array'
  return ({ jsonPath }) => isList || jsonPath !== '.spec.tags[*]'
}

function randomColumns(random: RandomChoices): Schema[] {
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
    ...served('widgets'),
  })
  steps.push({ id: 'get', method: 'GET', path })
  steps.push({ id: 'resources', method: 'GET', path: `/apis/${group}/v1` })
  if (random.chance(30)) steps.push(...namesConflict(random))
  let last = 'get'
  for (let i = 0; i < 4; i++) {
    const next = structuredClone(valid)
    if (random.chance(85)) damageDefinition(next, random)
    // Damage may have removed the metadata.
    const metadata = next['metadata'] as Schema | undefined | null
    if (random.chance(95) && typeof metadata === 'object' && metadata !== null)
      metadata['resourceVersion'] = `{${last}.metadata.resourceVersion}`
    const target = random.chance(12) ? `${path}/status` : path
    if (target !== path) next['status'] = randomStatus(random)
    steps.push({
      id: `update${i}`,
      method: 'PUT',
      path: target,
      query: validation(random),
      body: { json: next },
      agree: { path, member: 'status' },
    })
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
  const path = `${definitionsPath}/gadgets.${group}`
  return [
    { id: 'other', method: 'POST', path: definitionsPath, body: { json: other }, agree: { path, member: 'status' } },
    { id: 'conflict', method: 'GET', path },
  ]
}
