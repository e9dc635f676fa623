import { CertificateError } from '@krmkit/certificates'
import {
  type BootstrapSigningKey,
  type BootstrapToken,
  checkPublicKeyPins,
  clusterInfoName,
  verifyClusterInfo,
} from '@krmkit/certificates/bootstrap'
import { ClientError, type ConnectionOptions, createRemoteClient, type RawResponse } from '@krmkit/client'
import { ApiError, type Clock, isJsonObject, type NamingProfile, stockProfile } from '@krmkit/meta'
import { parseYaml } from '@krmkit/schema'
import { withClient } from '../access/rbac-source.ts'
import { CliError } from '../cli-error.ts'

export interface DiscoveryOptions {
  /** The unverified address of the cluster: `https://host:port`. */
  readonly server: string
  readonly token: BootstrapToken
  /** Public key pins of the cluster authorities. Empty: any server that knows the token is trusted. */
  readonly pins: readonly string[]
  readonly signingKey?: BootstrapSigningKey
  /** Time limit of retries while cluster-info is not signed or the server does not respond. */
  readonly timeoutMs: number
  readonly clock: Clock
  readonly profile?: Pick<NamingProfile, 'publicNamespace'>
}

/** The verified address and authority of a cluster. */
export interface DiscoveredCluster {
  readonly server: string
  /** PEM; undefined: the authorities of the platform are trusted. */
  readonly authority: string | undefined
}

/** Above the request size limit of servers. */
const maxBytes = 4 * 1024 * 1024
const pauseMs = 5000

/**
 * Discovers a cluster with a bootstrap token. Fetches cluster-info over an unverified connection, checks its signature with the token and
 * the public key pins of its authority, then fetches it again over a connection verified by this authority and compares both.
 *
 * @throws CertificateError `Untrusted`, `Unsigned`; ApiError, ClientError, CliError when the time is up.
 * @see API protocol specification, 2.11
 */
export async function discoverCluster(options: DiscoveryOptions): Promise<DiscoveredCluster> {
  const { server, token, pins, signingKey: key } = options
  const verified = async (connection: ConnectionOptions) =>
    verifyClusterInfo(await fetchInfo(connection, options), token, key === undefined ? {} : { key })
  const kubeconfig = await untilSigned(() => verified({ server, insecureSkipTlsVerify: true }), options)
  const cluster = clusterIn(kubeconfig)
  if (pins.length === 0) return cluster
  checkPublicKeyPins(cluster.authority ?? '', pins)
  const again = await verified({ server, ...(cluster.authority === undefined ? {} : { ca: cluster.authority }) })
  if (again === kubeconfig) return cluster
  throw new CertificateError({
    code: 'Untrusted',
    message: 'cluster-info differs between the unverified and the verified connection',
  })
}

/** Retries while the signature, the role or the server itself may still be missing. */
async function untilSigned(ask: () => Promise<string>, { clock, timeoutMs }: DiscoveryOptions): Promise<string> {
  const end = clock.now() + timeoutMs
  for (;;) {
    try {
      return await ask()
    } catch (error) {
      const mayCome =
        (error instanceof CertificateError && error.code === 'Unsigned') || ApiError.is(error) || error instanceof ClientError
      if (!mayCome || clock.now() + pauseMs > end) throw error
    }
    await new Promise<void>((resolve) => clock.setTimeout(resolve, pauseMs))
  }
}

/** Fetches the data of the ConfigMap. */
async function fetchInfo(connection: ConnectionOptions, options: DiscoveryOptions): Promise<Record<string, string>> {
  const { publicNamespace } = options.profile ?? stockProfile
  const path = `/api/v1/namespaces/${publicNamespace}/configmaps/${clusterInfoName}`
  return withClient(createRemoteClient(connection), async (client) => dataIn(await client.request({ path })))
}

async function dataIn(response: RawResponse): Promise<Record<string, string>> {
  const { status } = response
  const parts: Uint8Array[] = []
  let size = 0
  for await (const part of response.stream()) {
    size += part.length
    if (size > maxBytes) throw unusable('the response is too large')
    parts.push(part)
  }
  if (status === 403)
    throw ApiError.forbidden({ group: '', resource: 'configmaps' }, clusterInfoName, 'it is not readable without authentication')
  if (status === 404) throw ApiError.notFound({ group: '', resource: 'configmaps' }, clusterInfoName)
  if (status !== 200) throw unusable(`the server responds with status ${status}`)
  const object = parsedOr(() => JSON.parse(Buffer.concat(parts).toString('utf8')) as unknown, 'the response is not a JSON object')
  const data = isJsonObject(object) && isJsonObject(object.data) ? object.data : {}
  return Object.fromEntries(Object.entries(data).filter((entry): entry is [string, string] => typeof entry[1] === 'string'))
}

/** The only cluster of a kubeconfig, or that of its current context. */
function clusterIn(kubeconfig: string): DiscoveredCluster {
  const value = parsedOr(() => parseYaml(kubeconfig).value as unknown, 'it is not a kubeconfig')
  const members = isJsonObject(value) ? value : {}
  const clusters = namedIn(members.clusters, 'cluster')
  const current = members['current-context']
  const context = typeof current === 'string' ? namedIn(members.contexts, 'context').get(current) : undefined
  const cluster = context === undefined ? clusters.values().next().value : clusters.get(String(context.cluster))
  const { server, 'certificate-authority-data': data } = cluster ?? {}
  if (typeof server !== 'string' || !server.startsWith('https://') || !URL.canParse(server))
    throw unusable('its kubeconfig has no https server URL')
  return { server, authority: typeof data === 'string' ? Buffer.from(data, 'base64').toString('utf8') : undefined }
}

function namedIn(list: unknown, member: string): Map<string, Record<string, unknown>> {
  const entries = Array.isArray(list) ? list : []
  return new Map(
    entries.flatMap((entry: unknown) => {
      const value = isJsonObject(entry) ? entry[member] : undefined
      return isJsonObject(entry) && isJsonObject(value) ? [[String(entry.name ?? ''), value] as const] : []
    }),
  )
}

function parsedOr<T>(parse: () => T, otherwise: string): T {
  try {
    return parse()
  } catch {
    throw unusable(otherwise)
  }
}

function unusable(why: string): CliError {
  return new CliError({ code: 'InvalidResponse', message: `${clusterInfoName} cannot be used: ${why}` })
}
