import { createCatalog, type ResourceDefinition } from '@krmkit/kinds'
import { encodeProtobuf } from '@krmkit/schema'
import { encodeYaml } from '@krmkit/schema/yaml'
import type { WireClient } from '../harness/client.ts'
import { type AttackContext, type Family, isChosen, sendMeasured, type WireAttack, watchingHeap } from '../harness/family.ts'
import { startTarget } from '../harness/target.ts'
import { baseSpecs, heavyResources } from './base-objects.ts'
import { type Place, placesOf, sample } from './places.ts'
import { listAt, shapes, withDeepValues } from './shapes.ts'

/** Large bodies of every shape for every served kind, in every encoding, by every verb with a body. */

type Json = Record<string, unknown>
type Encoding = 'json' | 'yaml' | 'protobuf'

const mediaTypes: Readonly<Record<Encoding, string>> = {
  json: 'application/json',
  yaml: 'application/yaml',
  protobuf: 'application/vnd.kubernetes.protobuf',
}
const encodings = Object.keys(mediaTypes) as readonly Encoding[]

/** Just below the limit of stored objects, and just below the limit of bodies. */
const sizes = [1_400_000, 3_000_000] as const

interface Kind {
  readonly definition: ResourceDefinition
  readonly collection: string
  readonly base: Json
  readonly places: readonly Place[]
}

interface Sent {
  readonly verb: Verb
  readonly encoding: Encoding
  readonly object: Json
}

const verbs = ['create', 'dry run', 'update', 'apply', 'merge patch', 'strategic merge patch', 'JSON patch', 'delete'] as const
type Verb = (typeof verbs)[number]

const kinds = (): Kind[] =>
  createCatalog()
    .definitions.filter(({ resource }) => resource.verbs.includes('create') && !resource.name.includes('/'))
    .map((definition) => {
      const { group, version, resource, kind } = definition
      const apiVersion = group === '' ? version : `${group}/${version}`
      const root = group === '' ? '/api/v1' : `/apis/${apiVersion}`
      const type = kind.type()
      const base: Json = { metadata: { name: 'a' }, ...(baseSpecs[resource.name] ?? requiredMembers(definition)) }
      return {
        definition,
        collection: `${root}${resource.namespaced ? '/namespaces/default' : ''}/${resource.name}`,
        base: { apiVersion, kind: kind.kind, ...base },
        places: placesOf(type),
      }
    })

function requiredMembers({ kind }: ResourceDefinition): Json {
  const { metadata: _, ...rest } = sample({ kind: 'struct', name: '', struct: kind.type }, 0) as Json
  return rest
}

function encoded(kind: Kind, { encoding, object }: Sent): string | Uint8Array | undefined {
  if (encoding === 'json') return withDeepValues(JSON.stringify(object))
  if (encoding === 'yaml') return withDeepValues(Buffer.from(encodeYaml(JSON.parse(JSON.stringify(object)) as Json)).toString())
  const type = kind.definition.kind.type()
  if (type.protoName === undefined) return undefined
  try {
    return encodeProtobuf(type, JSON.parse(JSON.stringify(object)) as Json)
  } catch {
    // Objects without a protobuf form are sent in the other encodings.
    return undefined
  }
}

/** Undefined when the verb does not support the encoding. */
function wireOf(kind: Kind, sent: Sent): WireAttack['wire'] | undefined {
  const { collection } = kind
  const { verb, encoding, object } = sent
  const item = `${collection}/a`
  const patch = (type: string, body: string | Uint8Array | undefined, query = '') =>
    body === undefined ? undefined : { method: 'PATCH', target: item + query, headers: { 'content-type': type }, body }
  if (verb === 'merge patch' || verb === 'strategic merge patch') {
    const type = verb === 'merge patch' ? 'merge-patch' : 'strategic-merge-patch'
    return patch(`application/${type}+json`, withDeepValues(JSON.stringify(object)))
  }
  if (verb === 'JSON patch')
    return patch('application/json-patch+json', withDeepValues(JSON.stringify([{ op: 'add', path: '', value: object }])))
  if (verb === 'apply') {
    const body = encoding === 'protobuf' ? undefined : encoded(kind, sent)
    return patch('application/apply-patch+yaml', body, '?fieldManager=attacks&force=true')
  }
  const body = encoded(kind, sent)
  if (body === undefined) return undefined
  const headers = { 'content-type': mediaTypes[encoding] }
  if (verb === 'update') return { method: 'PUT', target: item, headers, body }
  if (verb === 'delete') return { method: 'DELETE', target: `${item}?dryRun=All`, headers, body }
  // Dry runs, so that attacks do not affect each other.
  return {
    method: 'POST',
    target:
      verb === 'create' ? `${collection}?dryRun=All&fieldValidation=Ignore` : `${collection}?dryRun=All&fieldValidation=Strict`,
    headers,
    body,
  }
}

function* bodyAttacks(context: AttackContext): Generator<WireAttack> {
  const { random, size } = context
  for (const kind of kinds()) {
    const input = { base: kind.base, type: kind.definition.kind.type(), places: kind.places, random }
    for (const [shape, make] of Object.entries(shapes)) {
      if (size === 'short' && !random.chance(2)) continue
      const bytes = random.pick(sizes)
      const object = make({ ...input, bytes })
      if (object === undefined) continue
      const sent = { verb: random.pick(verbs), encoding: random.pick(encodings), object }
      const name = nameOf(kind, shape, { ...sent, bytes })
      if (!isChosen(name, context)) continue
      const wire = wireOf(kind, sent) ?? wireOf(kind, { ...sent, encoding: 'json' })
      if (wire !== undefined) yield { name, wire }
    }
    if (size === 'full' && heavyResources.has(kind.definition.resource.name)) yield* everyList(kind, context)
  }
}

/** Every list of a kind, grown long, in every encoding. */
function* everyList(kind: Kind, context: AttackContext): Generator<WireAttack> {
  const { random } = context
  const type = kind.definition.kind.type()
  for (const place of kind.places) {
    const element = random.pick([sample, (of: Parameters<typeof sample>[0]) => sample(of, 0)])
    const bytes = random.pick([...sizes, 390_000])
    const object = listAt(place, { base: kind.base, type, bytes, element: (of, i) => element(of, i) })
    if (object === undefined) continue
    for (const encoding of encodings) {
      const sent: Sent = { verb: random.pick(['create', 'dry run', 'apply'] as const), encoding, object }
      const name = nameOf(kind, `list ${place.path.join('.')}`, { ...sent, bytes })
      const wire = isChosen(name, context) ? wireOf(kind, sent) : undefined
      if (wire !== undefined) yield { name, wire }
    }
  }
}

function nameOf({ collection }: Kind, shape: string, { verb, encoding, bytes }: Sent & { readonly bytes: number }): string {
  return `${verb} of ${collection} with ${shape}, ${bytes} bytes as ${encoding}`
}

/** Objects for updates and patches. */
async function prepare(admin: WireClient): Promise<void> {
  for (const { collection, base, definition } of kinds()) {
    if (baseSpecs[definition.resource.name] === undefined) continue
    await admin.send({
      method: 'POST',
      target: collection,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(base),
    })
  }
}

const warmUp = { short: 50, full: 800 } as const

/** The next items of an iterator, which goes on afterwards. */
function* next<T>(items: Iterator<T>, count: number): Generator<T> {
  for (let i = 0; i < count; i++) {
    const { done, value } = items.next()
    if (done === true) return
    yield value
  }
}

async function restore(admin: WireClient): Promise<void> {
  for (const { collection, definition } of kinds()) {
    if (baseSpecs[definition.resource.name] === undefined) continue
    // Attacks may have added finalizers.
    const headers = { 'content-type': 'application/merge-patch+json' }
    await admin.send({ method: 'PATCH', target: `${collection}/a`, headers, body: '{"metadata":{"finalizers":null}}' })
    await admin.send({ method: 'DELETE', target: `${collection}/a?gracePeriodSeconds=0` })
  }
  await prepare(admin)
}

export const bodies: Family = {
  name: 'bodies',
  purpose: 'large bodies of every shape and kind are answered properly, and hold up no other request',
  async run(context) {
    await using target = await startTarget({ prepare })
    const attacks = bodyAttacks(context)
    // The first part makes the server load and compile what it has for large bodies, which stays; the others may keep nothing more.
    await sendMeasured(target, next(attacks, warmUp[context.size]), context)
    await restore(target.admin())
    await watchingHeap(target, context, () => sendMeasured(target, attacks, context), restore)
  },
}
