import type { RandomChoices } from '@krmkit/base/random-choices'
import type { Scenario, Step } from '../scenario.ts'
import { definitionsPath, group, served, tableType } from './definitions.ts'
import type { Schema } from './schemas.ts'
import { jsonNumbers, YamlWriter } from './yaml-text.ts'

/** Bodies of generated YAML, and numbers of every notation in all media types. */

const free: Schema = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true }
const resources = `/apis/${group}/v1/namespaces/{ns}/widgets`
const maps = '/api/v1/namespaces/{ns}/configmaps'

function definition(spec: Schema, more: Schema = {}): Step {
  const schema = { openAPIV3Schema: { type: 'object', properties: { spec: { ...free, properties: spec } } } }
  const names = { plural: 'widgets', singular: 'widget', kind: 'Widget', listKind: 'WidgetList' }
  const json: Schema = {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `widgets.${group}` },
    spec: { group, scope: 'Namespaced', names, versions: [{ name: 'v1', served: true, storage: true, schema, ...more }] },
  }
  return { id: 'definition', method: 'POST', path: definitionsPath, body: { json }, ...served('widgets') }
}

/** Generated documents as bodies of creations, replacements and applies. */
export function generateYaml(random: RandomChoices): Scenario {
  const steps: Step[] = [definition({ n: { type: 'number' }, i: { type: 'integer' }, t: { type: 'string' } })]
  for (let i = 0; i < 16; i++) {
    const custom = random.chance(65)
    const name = `o${random.below(3)}`
    const body = { text: document(random, custom, name) }
    const path = `${custom ? resources : maps}/${name}`
    const query: [string, string][] = random.chance(50) ? [['fieldValidation', random.pick(['Strict', 'Warn', 'Ignore'])]] : []
    const kind = random.below(10)
    const id = `s${i}`
    const headers = { 'content-type': 'application/yaml' }
    if (kind < 4) steps.push({ id, method: 'POST', path: custom ? resources : maps, query, headers, body })
    else if (kind < 6) steps.push({ id, method: 'PUT', path, query, headers, body })
    else if (kind < 9) steps.push({ id, method: 'PATCH', path, ...applied(query, random), body })
    else steps.push({ id, method: 'GET', path, headers: { accept: random.pick(['application/yaml', 'application/json']) } })
  }
  return { area: 'yaml', steps }
}

function applied(query: readonly [string, string][], random: RandomChoices): Pick<Step, 'query' | 'headers'> {
  const force: [string, string][] = random.chance(70) ? [['force', 'true']] : []
  return {
    query: [...query, ['fieldManager', random.pick(['m1', 'm2'])], ...force],
    headers: { 'content-type': 'application/apply-patch+yaml' },
  }
}

function document(random: RandomChoices, custom: boolean, name: string): string {
  const writer = new YamlWriter(random)
  const type = custom ? `apiVersion: "${group}/v1"\nkind: Widget\n` : 'apiVersion: v1\nkind: ConfigMap\n'
  const comment = random.chance(3) ? `# ${'x'.repeat(70_000)}\n` : ''
  const content = custom
    ? `spec:\n${writer.mapping(2, 3)}`
    : `data:\n${random.chance(60) ? texts(random, writer) : writer.mapping(2, 1)}`
  return writer.framed(`${type}metadata:\n  name: ${name}\n${comment}${content}`)
}

/** Members whose values are texts, so that more than their types is compared. */
function texts(random: RandomChoices, writer: YamlWriter): string {
  return ['a', 'b', 'c'].map((key) => `  ${key}: ${random.chance(30) ? '!!str ' : ''}${writer.scalar(2)}\n`).join('')
}

/** Numbers of every notation in all media types, with columns, scale and rules for them. */
export function generateNumbers(random: RandomChoices): Scenario {
  const number = (schema: Schema): Schema => (random.chance(40) ? { ...schema, ...random.pick(restrictions) } : schema)
  const path = random.pick(['.spec.i', '.spec.n', '.spec.f'])
  const more: Schema = {
    subresources: {
      scale: { specReplicasPath: path, statusReplicasPath: '.status.replicas' },
      ...(random.chance(30) ? { status: {} } : {}),
    },
    additionalPrinterColumns: [
      { name: 'I', type: 'integer', jsonPath: random.pick(['.spec.i', '.spec.n', '.spec.f']) },
      { name: 'N', type: 'number', jsonPath: random.pick(['.spec.n', '.spec.i', '.spec.f']) },
      { name: 'S', type: 'string', jsonPath: random.pick(['.spec.n', '.spec.i', '.spec.f', '.spec.l']) },
    ],
  }
  const spec = {
    n: number({ type: 'number' }),
    i: number({ type: 'integer', ...random.pick<Schema>([{}, {}, { format: 'int32' }, { format: 'int64' }]) }),
    s: { 'x-kubernetes-int-or-string': true },
    l: { type: 'array', items: { type: 'number' }, ...(random.chance(40) ? { 'x-kubernetes-list-type': 'set' } : {}) },
  }
  const steps: Step[] = [definition(spec, more)]
  for (let i = 0; i < 16; i++) steps.push({ id: `s${i}`, ...numberStep(random) })
  return { area: 'numbers', steps }
}

const restrictions: readonly Schema[] = [
  { multipleOf: 0.1 },
  { multipleOf: 2 },
  { minimum: 0 },
  { maximum: 1000 },
  { maximum: 1, exclusiveMaximum: true },
  { enum: [1, 1.5, 3] },
  { default: 3 },
  { default: 1.5 },
  { nullable: true },
]

function numberStep(random: RandomChoices): Omit<Step, 'id'> {
  const name = `o${random.below(2)}`
  const path = `${resources}/${name}`
  const head = `"apiVersion":"${group}/v1","kind":"Widget","metadata":{"name":"${name}"}`
  const spec = `"spec":${numbers(random)}`
  const typed = (type: string) => ({ headers: { 'content-type': type } })
  const manager: [string, string][] = [['fieldManager', random.pick(['m1', 'm2'])]]
  switch (random.below(11)) {
    case 0:
    case 1:
      return {
        method: 'POST',
        path: resources,
        ...typed(random.pick(['application/json', 'application/yaml'])),
        body: { text: `{${head},${spec}}` },
      }
    case 2:
      return {
        method: 'PUT',
        path,
        ...typed(random.pick(['application/json', 'application/yaml'])),
        body: { text: `{${head},${spec}}` },
      }
    case 3:
      return { method: 'PATCH', path, query: manager, ...typed('application/merge-patch+json'), body: { text: `{${spec}}` } }
    case 4: {
      const member = random.pick(['n', 'i', 'f', 's'])
      const operations = [random.pick(['add', 'replace', 'test']), random.pick(['add', 'test'])].map(
        (op) => `{"op":"${op}","path":"/spec/${member}","value":${random.pick(jsonNumbers)}}`,
      )
      return { method: 'PATCH', path, ...typed('application/json-patch+json'), body: { text: `[${operations.join(',')}]` } }
    }
    case 5:
    case 6:
      return {
        method: 'PATCH',
        path,
        query: [...manager, ['force', 'true']],
        ...typed('application/apply-patch+yaml'),
        body: { text: `{${head},${spec}}` },
      }
    case 7: {
      const scale = `{"apiVersion":"autoscaling/v1","kind":"Scale","metadata":{"name":"${name}"},"spec":{"replicas":${random.pick(jsonNumbers)}}}`
      if (random.chance(50)) return { method: 'GET', path: `${path}/scale` }
      return { method: 'PUT', path: `${path}/scale`, query: manager, body: { text: scale } }
    }
    case 8:
      return { method: 'GET', path: random.pick([path, resources]), headers: { accept: tableType } }
    case 9:
      return { method: 'GET', path, headers: { accept: random.pick(['application/yaml', 'application/json']) } }
    default:
      return {
        method: 'PATCH',
        path,
        query: [...manager, ['dryRun', 'All']],
        ...typed('application/merge-patch+json'),
        body: { text: `{"metadata":{"labels":{"a":"b"}}}` },
      }
  }
}

/** Members with numbers; a few numbers return often, so that values are applied again. */
function numbers(random: RandomChoices): string {
  const number = () =>
    random.chance(50)
      ? random.pick(['1', '1.0', '3', '1e3', '9007199254740993', '9223372036854775808'])
      : random.pick(jsonNumbers)
  const members = ['n', 'i', 'f', 's'].filter(() => random.chance(55)).map((key) => `"${key}":${number()}`)
  if (random.chance(25)) members.push(`"l":[${[number(), number(), number()].slice(random.below(3)).join(',')}]`)
  return `{${members.join(',')}}`
}
