import type { RandomChoices } from '@krmkit/base/random-choices'
import type { ResourceDefinition } from '@krmkit/kinds'
import type { JsonObject } from '@krmkit/meta'
import type { ProtobufBody, Scenario, Step } from '../scenario.ts'
import { collectionPath, createdResources, sampleObject } from './bodies.ts'

const protobuf = 'application/vnd.kubernetes.protobuf'
const partial = (list: string, version: string) => `${protobuf};as=PartialObjectMetadata${list};g=meta.k8s.io;v=${version}`

/** More bytes than any message has. */
const everything = 1_000_000

/** What is wrong with a message. */
const damages: readonly Omit<ProtobufBody, 'object'>[] = [
  // A field without a name, as a number, as bytes, as a group.
  { append: '+D4B' },
  { append: '+j4BYQ==' },
  { append: '+z78Pg==' },
  // Field numbers and wire types that do not exist.
  { append: 'AAA=' },
  { append: 'Bw==' },
  // A length beyond the end, and a number without an end.
  { append: 'CgU=' },
  { append: 'CP//////////////AQ==' },
  // The first field again: fields of a message are merged.
  { append: 'CgA=' },
  { truncate: 1 },
  { truncate: 7 },
  { flip: 0 },
  { flip: 3 },
  { flip: 5 },
  { envelope: { kind: '' } },
  { envelope: { apiVersion: '' } },
  { envelope: { apiVersion: '', kind: '' } },
  { envelope: { kind: 'Status' }, truncate: everything },
  { envelope: { apiVersion: 'v1', kind: 'ConfigMap' }, truncate: everything },
  { truncate: everything },
  { envelope: { kind: 'Nothing' } },
  { envelope: { apiVersion: 'example.com/v1' } },
  { envelope: { apiVersion: 'a/b/c' } },
  { envelope: { contentType: 'application/json' } },
  { envelope: { contentType: 'text/plain' } },
]

/** Every verb with protobuf in both directions: objects, lists, metadata, Status, options of deletions, damaged messages. */
export function generateProtobuf(random: RandomChoices): Scenario {
  // kube-apiserver writes the conditions of flow schemas in the background.
  const definition = random.pick(createdResources.filter(({ resource }) => resource.name !== 'flowschemas'))
  const collection = collectionPath(definition)
  const path = `${collection}/{id}-0`
  const steps: Step[] = [creation(definition, 0, random)]
  for (let i = 1; i < 10; i++) steps.push(anyStep({ definition, collection, path }, i, random))
  const isCluster = !definition.resource.namespaced
  return { area: 'protobuf', ...(isCluster ? { namespace: false as const } : {}), steps }
}

/** Cluster-scoped collections hold objects of other scenarios and of the servers themselves. */
const ownName: readonly [string, string] = ['fieldSelector', 'metadata.name={id}-0']
const listQueries: readonly (readonly (readonly [string, string])[])[] = [
  [],
  [['limit', '1']],
  [['labelSelector', 'a=1']],
  [['limit', 'x']],
  [['resourceVersion', '0']],
]

interface Target {
  readonly definition: ResourceDefinition
  readonly collection: string
  readonly path: string
}

/** Mostly protobuf. */
function accept(random: RandomChoices): { headers: { accept: string } } {
  return {
    headers: {
      accept: random.pick([protobuf, protobuf, protobuf, partial('', 'v1'), partial('', 'v1beta1'), 'application/json']),
    },
  }
}

function creation(definition: ResourceDefinition, i: number, random: RandomChoices): Step {
  const object = labelled(sampleObject(definition, `{id}-${i}`, random), random)
  return {
    id: `create${i}`,
    method: 'POST',
    path: collectionPath(definition),
    headers: { accept: protobuf },
    body: { protobuf: { object } },
  }
}

function labelled(object: JsonObject, random: RandomChoices): JsonObject {
  const metadata = { ...(object['metadata'] as JsonObject), labels: random.pick([{ a: '1' }, { a: '2', b: 'x' }, {}]) }
  return { ...object, metadata }
}

function anyStep({ definition, collection, path }: Target, i: number, random: RandomChoices): Step {
  const object = () => labelled(sampleObject(definition, '{id}-0', random), random)
  switch (random.below(12)) {
    case 0:
      return creation(definition, i, random)
    case 1:
      return { id: `get${i}`, method: 'GET', path: random.pick([path, path, `${collection}/none`]), ...accept(random) }
    case 2:
    case 3:
      return {
        id: `list${i}`,
        method: 'GET',
        path: collection,
        query: [...(definition.resource.namespaced ? [] : [ownName]), ...random.pick(listQueries)],
        headers: {
          accept: random.pick([protobuf, protobuf, partial('List', 'v1'), partial('List', 'v1beta1'), partial('', 'v1')]),
        },
      }
    case 4:
      return { id: `update${i}`, method: 'PUT', path, ...accept(random), body: { protobuf: { object: object() } } }
    case 5:
      return patchStep(i, path, object(), random)
    case 6:
    case 7:
      return {
        id: `damaged${i}`,
        method: random.pick(['POST', 'PUT']),
        path: random.pick([path, collection]),
        query: random.pick([[], [['fieldValidation', 'Strict']], [['dryRun', 'All']]]),
        ...accept(random),
        body: { protobuf: { object: object(), ...random.pick(damages) } },
      }
    case 8:
      return deletion(i, path, random)
    case 9:
      return { id: `collection${i}`, method: 'DELETE', path: collection, query: [['labelSelector', '{id}=x']], ...accept(random) }
    default:
      return {
        id: `watch${i}`,
        method: 'GET',
        path: collection,
        query: [
          ['watch', '1'],
          ['timeoutSeconds', '20'],
          ...(random.chance(50) ? ([['resourceVersion', '{create0.metadata.resourceVersion}']] as const) : []),
          ownName,
        ],
        headers: { accept: random.pick([protobuf, `${protobuf};stream=watch`, partial('', 'v1'), partial('', 'v1beta1')]) },
        watch: true,
      }
  }
}

function patchStep(i: number, path: string, object: JsonObject, random: RandomChoices): Step {
  const type = random.pick([
    'application/merge-patch+json',
    'application/strategic-merge-patch+json',
    'application/apply-patch+yaml',
    protobuf,
  ])
  const isApply = type.startsWith('application/apply')
  const json = isApply ? object : { metadata: { annotations: { x: random.pick(['1', '', 'é']) } } }
  const query = isApply
    ? ([
        ['fieldManager', 'm'],
        ['force', 'true'],
      ] as const)
    : []
  return {
    id: `patch${i}`,
    method: 'PATCH',
    path,
    query,
    headers: { ...accept(random).headers, 'content-type': type },
    body: { json },
  }
}

function deletion(i: number, path: string, random: RandomChoices): Step {
  const options: JsonObject = random.pick<JsonObject>([
    {},
    { gracePeriodSeconds: 0 },
    { propagationPolicy: 'Background', preconditions: { uid: '{create0.metadata.uid}' } },
    { preconditions: { uid: 'other' } },
    { propagationPolicy: 'x' },
    { dryRun: ['All'] },
  ])
  const object = { apiVersion: random.pick(['v1', 'meta.k8s.io/v1']), kind: 'DeleteOptions', ...options }
  return { id: `delete${i}`, method: 'DELETE', path, ...accept(random), body: { protobuf: { object } } }
}
