import type { RandomChoices } from '@krmkit/base/random-choices'
import type { Scenario, Step } from '../scenario.ts'
import { collectionPath, createdResources, sampleObject } from './bodies.ts'

const accepts = [
  'application/json',
  'application/yaml',
  'application/vnd.kubernetes.protobuf',
  'application/json;as=Table;v=v1;g=meta.k8s.io',
  'application/json;as=Table;v=v1;g=meta.k8s.io,application/json',
  'application/json;as=Table;v=v1beta1;g=meta.k8s.io',
  'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io',
  'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io',
  'application/vnd.kubernetes.protobuf;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io',
  '*/*',
  'text/plain',
  'application/cbor',
  'application/json;q=0.5,application/yaml',
  '',
]

const selectors = [
  'a=1',
  'a==2',
  'a!=1',
  'a in (1,2)',
  'a notin (1)',
  'a',
  '!a',
  'b',
  'a=1,b',
  'a in ()',
  'a=',
  '=a',
  'a=1,',
  ',',
  'a = 1',
  'a>1',
  'a<3',
  'a gt 1',
  'A_/x',
  'x'.repeat(300),
  'a=é',
  'a in (1',
  '%',
]
const fieldSelectors = [
  'metadata.name={id}-1',
  'metadata.name!={id}-1',
  'metadata.namespace={ns}',
  'metadata.namespace=other',
  'status.phase=Running',
  'status.phase!=Running',
  'spec.nodeName=',
  'x=y',
  'metadata.name',
  'metadata.name={id}-1,metadata.namespace={ns}',
  'type=Opaque',
  'spec.x=1',
  'metadata.name=a\\,b',
  '=',
]
const versions = [
  '',
  '0',
  '1',
  '{create0.metadata.resourceVersion}',
  '{create2.metadata.resourceVersion}',
  'x',
  '-1',
  '00',
  // One of those that are waited for.
  'future',
  '18446744073709551616',
  '1.5',
  ' 1',
]
const futures = ['999999999999', '9223372036854775807', '9223372036854775808', '18446744073709551615']
const token = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')
const tokens = [
  'x',
  '',
  'a b',
  token({}),
  token([]),
  token(null),
  token({ v: 'meta.k8s.io/v1', rv: 0, start: 'a' }),
  token({ v: 'meta.k8s.io/v1', rv: 1 }),
  token({ v: 'meta.k8s.io/v1', rv: '1', start: 'a' }),
  token({ v: 'meta.k8s.io/v1', rv: -1, start: '{id}-1\0' }),
  token({ v: 'meta.k8s.io/v1', rv: -2, start: '/a' }),
  token({ v: 'meta.k8s.io/v1', rv: 1, start: '../a' }),
  token({ v: 'meta.k8s.io/v2', rv: 1, start: 'a' }),
]
const matches = ['', 'Exact', 'NotOlderThan', 'exact', 'x']
const numbers = ['', '0', '1', '2', '3', '100', '-1', 'x', '1.5', '9223372036854775807', '9223372036854775808', '+1', ' 1']
const booleans = ['', 'true', 'false', '1', '0', 'True', 'x', 'yes']

/** Lists, reads and watches with every option, odd values among them, and writes in between. */
export function generateReads(random: RandomChoices): Scenario {
  const definition = random.pick(createdResources.filter(({ resource }) => resource.namespaced))
  const path = collectionPath(definition)
  const steps: Step[] = []
  const create = (i: number): Step => {
    const body = sampleObject(definition, `{id}-${i}`, random)
    const metadata = body['metadata'] as Record<string, unknown>
    const labels = random.pick([{ a: '1' }, { a: '2' }, { a: '3', b: 'x' }, { b: 'y' }, undefined])
    body['metadata'] = (labels === undefined ? metadata : { ...metadata, labels }) as never
    return { id: `create${i}`, method: 'POST', path, body: { json: body } }
  }
  for (let i = 0; i < 4; i++) steps.push(create(i))
  for (let i = 4; i < 12; i++) {
    switch (random.below(10)) {
      case 0:
        steps.push(create(i))
        break
      case 1:
        steps.push({ id: `delete${i}`, method: 'DELETE', path: `${path}/{id}-${random.below(4)}` })
        break
      case 2:
        steps.push({
          id: `get${i}`,
          method: random.pick(['GET', 'GET', 'HEAD']),
          path: `${path}/{id}-${random.below(5)}`,
          query: readQuery(random, false),
          headers: { accept: random.pick(accepts) },
        })
        break
      case 3:
      case 4:
        steps.push({
          id: `watch${i}`,
          method: 'GET',
          path,
          query: [['watch', random.pick(['true', '1', 'true', 'yes'])], ['timeoutSeconds', '20'], ...watchQuery(random)],
          headers: {
            accept: random.pick([
              'application/json',
              'application/json',
              'application/json;as=Table;v=v1;g=meta.k8s.io',
              'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io',
              'text/plain',
            ]),
          },
          watch: true,
        })
        break
      default: {
        steps.push({
          id: `list${i}`,
          method: 'GET',
          path,
          query: readQuery(random, true),
          headers: { accept: random.pick([...accepts, 'application/json', 'application/json']) },
        })
        if (random.chance(40))
          steps.push({
            id: `next${i}`,
            method: 'GET',
            path,
            query: [
              ['limit', random.pick(['1', '2', '500'])],
              ['continue', `{list${i}.metadata.continue}`],
              ...(random.chance(10) ? readQuery(random, true) : []),
            ],
          })
      }
    }
  }
  return { area: 'reads', steps }
}

function readQuery(random: RandomChoices, isList: boolean): [string, string][] {
  const query: [string, string][] = []
  const maybe = (percent: number, name: string, values: readonly string[]) => {
    if (random.chance(percent)) query.push([name, random.pick(values)])
  }
  if (random.chance(30)) {
    // Whether the first version is compacted depends on how long the servers have run.
    const version = random.pick(isList ? versions.filter((each) => each !== '1') : versions)
    query.push(['resourceVersion', version === 'future' ? random.pick(futures) : version])
  }
  maybe(15, 'resourceVersionMatch', matches)
  maybe(10, 'pretty', booleans)
  if (!isList) return query
  maybe(35, 'labelSelector', selectors)
  maybe(25, 'fieldSelector', fieldSelectors)
  maybe(35, 'limit', numbers)
  maybe(7, 'continue', tokens)
  maybe(8, 'timeoutSeconds', numbers)
  maybe(8, 'sendInitialEvents', booleans)
  maybe(8, 'allowWatchBookmarks', booleans)
  // Other values, the empty one among them, make it a watch.
  maybe(5, 'watch', ['false', '0', 'FALSE'])
  maybe(8, 'includeObject', ['None', 'Metadata', 'Object', 'x', ''])
  maybe(5, 'unknown', ['x'])
  if (random.chance(6) && query.length > 0) query.push([query[0]?.[0] ?? 'limit', random.pick(numbers)])
  return query
}

function watchQuery(random: RandomChoices): [string, string][] {
  const query: [string, string][] = []
  const maybe = (percent: number, name: string, values: readonly string[]) => {
    if (random.chance(percent)) query.push([name, random.pick(values)])
  }
  maybe(60, 'resourceVersion', ['{create0.metadata.resourceVersion}', '{create3.metadata.resourceVersion}', '0', '', 'x', '-1'])
  maybe(30, 'labelSelector', selectors)
  maybe(20, 'fieldSelector', fieldSelectors)
  maybe(10, 'resourceVersionMatch', matches)
  maybe(10, 'sendInitialEvents', booleans)
  maybe(15, 'allowWatchBookmarks', booleans)
  maybe(5, 'limit', numbers)
  maybe(5, 'continue', ['x', ''])
  return query
}
