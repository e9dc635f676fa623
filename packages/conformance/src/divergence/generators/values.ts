import type { RandomChoices } from '@krmkit/base/random-choices'
import type { JsonObject, JsonValue } from '@krmkit/meta'
import type { Field, StructType, TypeNode } from '@krmkit/schema'

/** Random values of a type: mostly of the right shape, often beyond what validation allows. */
export function randomValue(type: TypeNode, name: string, random: RandomChoices, depth = 0): JsonValue {
  switch (type.kind) {
    case 'scalar':
      return randomScalar(type, name, random)
    case 'special':
      return random.pick<JsonValue>(specials[type.special] ?? ['a'])
    case 'list':
      return Array.from({ length: random.pick([0, 1, 1, 2]) }, () => randomValue(type.of, name, random, depth + 1))
    case 'map':
      return Object.fromEntries(
        Array.from({ length: random.pick([0, 1, 1, 2]) }, () => [
          random.pick(keys),
          randomValue(type.of, name, random, depth + 1),
        ]),
      )
    case 'struct':
      return randomStruct(type.struct(), random, depth)
  }
}

function randomStruct(type: StructType, random: RandomChoices, depth: number): JsonValue {
  const fields = type.fields.filter(({ json }) => json !== 'kind' && json !== 'apiVersion')
  if (fields.length === 0 || depth > 5) return {}
  const chosen = fields.filter(({ required }) => required && random.chance(70))
  for (let i = random.pick([0, 1, 1, 2, 3]); i > 0; i--) chosen.push(random.pick(fields))
  return Object.fromEntries(chosen.map((field) => [field.json, randomValue(field.type, field.json, random, depth + 1)]))
}

function randomScalar(type: Extract<TypeNode, { kind: 'scalar' }>, name: string, random: RandomChoices): JsonValue {
  switch (type.scalar) {
    case 'string':
      if (type.enum !== undefined && random.chance(75)) return random.pick(type.enum)
      return random.chance(50) && texts[name] !== undefined ? random.pick(texts[name]) : random.pick(anyText)
    case 'bool':
      return random.chance(50)
    case 'int32':
      return random.pick([0, 1, 2, 3, 10, 80, 100, -1, 101, 65_535, 65_536, 2_147_483_647])
    case 'int64':
      return random.pick([0, 1, 5, 30, 600, -1, 1000, 2_147_483_648, 4_294_967_296])
    case 'float64':
      return random.pick([0, 1, 0.5, -1.5, 1e21])
    case 'bytes':
      return random.pick(['', 'YQ==', 'AAEC', 'YQ', '%'])
    case 'any':
      return random.pick<JsonValue>([{}, { a: 1 }, 'a', 1, null])
  }
}

const anyText = [
  '',
  'a',
  'abc',
  'a-b',
  'a.b',
  'a/b',
  'A',
  'a_b',
  '-a',
  'a-',
  ' ',
  '1',
  '80',
  'http',
  '/x',
  '/x/../y',
  '..',
  '*',
  '1.2.3.4',
  '::1',
  '10.0.0.0/8',
  'example.com/a',
  'a.example.com',
  'x'.repeat(63),
  'x'.repeat(64),
  'x'.repeat(254),
  'é',
  '"q"',
  'In',
  'Exists',
  'TCP',
  'Always',
  'None',
]

/** Plausible texts by field name. */
const texts: Readonly<Record<string, readonly string[]>> = {
  operator: ['In', 'NotIn', 'Exists', 'DoesNotExist', 'Equal', 'Gt', 'Lt', 'in'],
  name: ['main', 'web', 'data', 'config', 'a', 'A', 'http', 'x'.repeat(64)],
  namespace: ['{ns}', 'default', 'other', ''],
  kind: ['Pod', 'Deployment', 'ServiceAccount', 'User', 'Group', 'Role', 'ClusterRole', 'X'],
  apiVersion: ['v1', 'apps/v1', '', 'a/b/c'],
  apiGroup: ['', 'apps', 'rbac.authorization.k8s.io', 'A'],
  key: ['a', 'example.com/a', 'a/b/c', 'metadata.name', ''],
  path: ['/x', 'x', '../x', '', '/a//b', 'a/b'],
  mountPath: ['/data', '/x', '', 'x', '/a:b'],
  fieldPath: ['metadata.name', 'metadata.labels', "metadata.labels['a']", 'spec.nodeName', 'status.podIP', 'x'],
  resource: ['limits.cpu', 'requests.memory', 'limits.x'],
  type: ['Ready', 'Container', 'RollingUpdate', 'Recreate', 'ClusterIP', 'Utilization', 'Value', 'Localhost', 'Opaque'],
  status: ['True', 'False', 'Unknown', 'true'],
  protocol: ['TCP', 'UDP', 'SCTP', 'tcp'],
  host: ['a.example.com', '*.example.com', 'a', 'A.b', '1.2.3.4'],
  url: ['https://a.example/x', 'http://a', 'https://a?b', '/x'],
  expression: ['true', 'object.spec.replicas > 1', 'object.x', '1 + ', '"a"', 'oldObject == null'],
  schedule: ['* * * * *', '@every 5m', 'TZ=UTC 0 0 * * *', '60 * * * *', '* * *'],
  timeZone: ['Etc/UTC', 'Europe/Berlin', 'Nowhere', 'Local', ''],
  cidr: ['10.0.0.0/8', '::/0', '10.0.0.1', '10.0.0.1/8'],
  effect: ['NoSchedule', 'NoExecute', 'PreferNoSchedule', 'No'],
  topologyKey: ['zone', 'kubernetes.io/hostname', '', 'a/b/c'],
  ip: ['1.2.3.4', '::1', '127.0.0.1', '169.254.1.1', '01.2.3.4'],
  verbs: ['get', 'list', '*', 'GET', ''],
  resources: ['pods', 'pods/log', '*', '*/*', 'pods/*', ''],
  apiGroups: ['', 'apps', '*'],
  accessModes: ['ReadWriteOnce', 'ReadOnlyMany', 'ReadWriteMany', 'ReadWriteOncePod', 'X'],
}

const keys = [
  'a',
  'cpu',
  'memory',
  'storage',
  'app',
  'example.com/a',
  'a/b/c',
  '',
  'pods',
  'ephemeral-storage',
  'hugepages-2Mi',
  'A_b',
  'x'.repeat(64),
  'kubernetes.io/x',
  'count/pods',
  '..',
]

const quantities: readonly JsonValue[] = [
  '1',
  '100m',
  '0',
  '-1',
  '1.5Gi',
  '1e3',
  '1k',
  '0.5',
  2,
  0.1,
  'abc',
  '',
  '1.0000000001',
  '1Ki',
  '9223372036854775807',
  '1E',
]

const specials: Readonly<Record<string, readonly JsonValue[]>> = {
  Quantity: quantities,
  QuantityValue: quantities,
  IntOrString: [0, 1, 80, 'http', '50%', '-1', -1, 70_000, '150%', '', 'a_b', '80'],
  Time: ['2024-01-01T00:00:00Z', '2024-01-01T01:00:00+01:00', 'x', null, '', '2024-01-01'],
  MicroTime: ['2024-01-01T00:00:00.000001Z', '2024-01-01T00:00:00Z', 'x', null],
  Duration: ['1s', '1h0m0s', 'x', 5],
  RawExtension: [{}, { kind: 'X', apiVersion: 'v1' }, null],
  FieldsV1: [{}, { 'f:a': {} }],
  JSON: [{}, 1, 'a', [1], true],
}

/** A place in an object where a field can be set. */
interface Place {
  readonly holder: Record<string, JsonValue>
  readonly field: Field
}

/** One random change of an object of `type`, in place. */
export function mutate(object: Record<string, JsonValue>, type: StructType, random: RandomChoices): void {
  const places: Place[] = []
  collectPlaces(object, type, places)
  const present = places.filter(({ holder, field }) => Object.hasOwn(holder, field.json))
  const { holder, field } = random.pick(present.length > 0 && random.chance(55) ? present : places)
  const old = holder[field.json]
  switch (random.below(14)) {
    case 0:
      delete holder[field.json]
      return
    case 1:
      holder[field.json] = null
      return
    case 2:
      holder[field.json] = random.pick<JsonValue>([{}, [], '', 0, false])
      return
    case 3:
      holder[field.json] = random.pick<JsonValue>(['text', 7, true, [1], { a: 'b' }, 1.5, -3])
      return
    case 4:
      holder[`${field.json}${random.pick(['X', ' ', '.', ''])}`] = randomValue(field.type, field.json, random)
      return
    case 5:
      if (Array.isArray(old) && old.length > 0) {
        old.push(structuredClone(random.pick(old)))
        return
      }
      break
    case 6:
      holder[random.pick(['unknown', 'Name', 'x.y', 'spec', 'status'])] = random.pick<JsonValue>([1, 'a', {}, null])
      return
  }
  holder[field.json] = randomValue(field.type, field.json, random)
}

function collectPlaces(value: JsonValue, type: StructType, places: Place[]): void {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return
  const holder = value as Record<string, JsonValue>
  for (const field of type.fields) {
    if (field.json === 'managedFields' || field.json === 'resourceVersion') continue
    places.push({ holder, field })
    if (Object.hasOwn(holder, field.json)) inside(holder[field.json] ?? null, field.type, places)
  }
}

function inside(value: JsonValue, type: TypeNode, places: Place[]): void {
  if (type.kind === 'struct') collectPlaces(value, type.struct(), places)
  else if (type.kind === 'list' && Array.isArray(value)) for (const item of value) inside(item, type.of, places)
  else if (type.kind === 'map' && typeof value === 'object' && value !== null)
    for (const item of Object.values(value)) inside(item as JsonValue, type.of, places)
}

/** Members that are there in `percent` of all cases. */
export function maybe(random: RandomChoices, percent: number, members: () => JsonObject): JsonObject {
  return random.chance(percent) ? members() : {}
}
