import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { ConnectionOptions } from '@krmkit/client'

const mounted = '/var/run/secrets/kubernetes.io/serviceaccount'

/** The connection of a pod to its cluster. The token file is read for each request, because it is rotated. @throws Error outside a pod. */
export async function inClusterConnection(
  options: { readonly env?: Readonly<Record<string, string | undefined>>; readonly folder?: string } = {},
): Promise<ConnectionOptions> {
  const { env = process.env, folder = mounted } = options
  const { KUBERNETES_SERVICE_HOST: host = '', KUBERNETES_SERVICE_PORT: port = '' } = env
  if (host === '' || port === '')
    throw new Error(
      'unable to load in-cluster configuration, KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT must be defined',
    )
  return {
    server: `https://${host.includes(':') ? `[${host}]` : host}:${port}`,
    ca: await readFile(join(folder, 'ca.crt'), 'utf8'),
    token: async () => (await readFile(join(folder, 'token'), 'utf8')).trim(),
  }
}
