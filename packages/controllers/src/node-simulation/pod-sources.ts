import { type Client, resourceType } from '@krmkit/client'
import type { ApiObject, DeepReadonly } from '@krmkit/meta'
import { ignoreNotFound } from '../framework/api-errors.ts'
import { publishedName } from '../root-ca.ts'
import type { KeySource, ReadonlyPod } from './objects.ts'

/** The config maps and secrets that the volumes of a pod need before its containers start. */

interface Source {
  readonly volume: string
  readonly kind: 'configmap' | 'secret'
  readonly name: string
  readonly keys: readonly string[]
}

interface Data extends ApiObject {
  data?: Record<string, string>
  binaryData?: Record<string, string>
}

const resources = {
  configmap: resourceType<Data>({ group: '', version: 'v1', resource: 'configmaps', kind: 'ConfigMap' }),
  secret: resourceType<Data>({ group: '', version: 'v1', resource: 'secrets', kind: 'Secret' }),
} as const
const missingKey = {
  configmap: 'configmap references non-existent config key',
  secret: 'references non-existent secret key',
} as const

/** Returns the event message for a volume that cannot be mounted; undefined when all sources exist. */
export async function mountProblem(
  pod: ReadonlyPod,
  { client, signal }: { readonly client: Client; readonly signal: AbortSignal },
): Promise<string | undefined> {
  const { namespace = '' } = pod.metadata
  for (const { volume, kind, name, keys } of sourcesOf(pod)) {
    const prefix = `MountVolume.SetUp failed for volume ${JSON.stringify(volume)} :`
    const found = await ignoreNotFound(client.get(resources[kind], name, { namespace, signal }))
    if (found === undefined) return `${prefix} ${kind} ${JSON.stringify(name)} not found`
    const key = keys.find((each) => found.data?.[each] === undefined && found.binaryData?.[each] === undefined)
    if (key !== undefined) return `${prefix} ${missingKey[kind]}: ${key}`
  }
  return undefined
}

function sourcesOf({ spec }: ReadonlyPod): Source[] {
  return (spec?.volumes ?? []).flatMap(({ name: volume, configMap, secret, projected }) => {
    const sources = [{ configMap, secret: secret && { ...secret, name: secret.secretName } }, ...(projected?.sources ?? [])]
    return sources.flatMap((source) => [
      ...required(volume, 'configmap', source.configMap),
      ...required(volume, 'secret', source.secret),
    ])
  })
}

/** Optional sources may be missing. `kube-root-ca.crt` is not required, because its publisher may not run. */
function required(volume: string, kind: Source['kind'], source: DeepReadonly<KeySource> | null | undefined): Source[] {
  if (source == null || source.optional === true || source.name === undefined || source.name === publishedName) return []
  return [{ volume, kind, name: source.name, keys: (source.items ?? []).map(({ key }) => key) }]
}
