import type { JsonObject, JsonValue } from '@krmkit/meta'

/**
 * The conversion webhook of the scenarios of area `conversions`: Gears in three versions.
 *
 * | version | place of the spec | phase of the status |
 * |---|---|---|
 * | v1 | `host`, `port` | `phase` |
 * | v1beta1 | `hostPort`, as `HOST:PORT` | `state` |
 * | v1alpha1 | `where.host`, `where.port` | `phase` |
 *
 * All other members are equal in all versions.
 *
 * @param marks notes the version that an object came from in an annotation, as webhooks do that keep what a version cannot hold
 */
export function answerConversion(review: JsonObject, marks: boolean): JsonObject {
  const { uid, objects, desiredAPIVersion } = review['request'] as {
    uid: string
    objects: JsonObject[]
    desiredAPIVersion: string
  }
  const response = (members: JsonObject): JsonObject => ({ ...review, request: null, response: { uid, ...members } })
  try {
    const convertedObjects = objects.map((object) => {
      const next = converted(object, desiredAPIVersion)
      return marks ? marked(next, versionOf(object['apiVersion'])) : next
    })
    return response({ convertedObjects, result: { status: 'Success' } })
  } catch (error) {
    return response({ convertedObjects: [], result: { status: 'Failed', message: (error as Error).message } })
  }
}

function versionOf(apiVersion: JsonValue | undefined): string {
  return String(apiVersion).split('/')[1] ?? ''
}

function marked({ metadata, ...object }: JsonObject, from: string): JsonObject {
  const given = isObject(metadata) ? metadata : {}
  const annotations = isObject(given['annotations']) ? given['annotations'] : {}
  return { ...object, metadata: { ...given, annotations: { ...annotations, 'example.com/from': from } } }
}

function converted(object: JsonObject, desired: string): JsonObject {
  const [from, to] = [versionOf(object['apiVersion']), versionOf(desired)]
  const { spec, status, ...rest } = object
  return {
    ...rest,
    apiVersion: desired,
    ...(spec === undefined ? {} : { spec: isObject(spec) ? placed(withoutPlace(spec, from), to) : spec }),
    ...(status === undefined ? {} : { status: isObject(status) ? renamed(status, from, to) : status }),
  }
}

interface Placed {
  readonly host: JsonValue | undefined
  readonly port: JsonValue | undefined
  readonly rest: JsonObject
}

function withoutPlace(spec: JsonObject, version: string): Placed {
  if (version === 'v1beta1') {
    const { hostPort, ...rest } = spec
    if (hostPort === undefined) return { host: undefined, port: undefined, rest }
    const [host, port, ...more] = String(hostPort).split(':')
    if (port === undefined || more.length > 0) throw new Error(`${JSON.stringify(hostPort)} is no host and port`)
    return { host: host === '' ? undefined : host, port: port === '' ? undefined : port, rest }
  }
  const { where, host, port, ...rest } = spec
  if (version === 'v1') return { host, port, rest }
  return { host: isObject(where) ? where['host'] : undefined, port: isObject(where) ? where['port'] : undefined, rest }
}

function placed({ host, port, rest }: Placed, version: string): JsonObject {
  if (host === undefined && port === undefined) return rest
  if (version === 'v1beta1') return { ...rest, hostPort: `${String(host ?? '')}:${String(port ?? '')}` }
  const place = { ...(host === undefined ? {} : { host }), ...(port === undefined ? {} : { port }) }
  return version === 'v1' ? { ...rest, ...place } : { ...rest, where: place }
}

function renamed(status: JsonObject, from: string, to: string): JsonObject {
  const [old, next] = [from, to].map((version) => (version === 'v1beta1' ? 'state' : 'phase')) as [string, string]
  const { [old]: phase, ...rest } = status
  return phase === undefined ? rest : { ...rest, [next]: phase }
}

function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
