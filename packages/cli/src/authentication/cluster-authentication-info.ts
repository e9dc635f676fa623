import type { EmbeddedServer } from '@krmkit/apiserver'
import { createInProcessClient, resourceType } from '@krmkit/client'
import { ApiError, type ApiObject, type NamingProfile } from '@krmkit/meta'
import { apiServerUser } from '../api-server-user.ts'
import type { CertificateBundles } from './certificate-bundles.ts'
import type { AuthenticationOptions } from './options.ts'

interface ConfigMap extends ApiObject {
  data?: Record<string, string>
}

const configMaps = resourceType<ConfigMap>({ group: '', version: 'v1', resource: 'configmaps', kind: 'ConfigMap' })
/** Fixed name that aggregated API servers read, independent of the naming profile. */
const name = 'extension-apiserver-authentication'

/**
 * Publishes the trusted client authorities and the request headers of the front proxy to aggregated API servers, as a ConfigMap in the
 * system namespace. Other keys of the ConfigMap are preserved.
 */
export async function publishClusterAuthenticationInfo(
  server: EmbeddedServer,
  { options, bundles }: { readonly options: AuthenticationOptions; readonly bundles: CertificateBundles },
): Promise<void> {
  const data = trusted(options, bundles)
  if (Object.keys(data).length === 0) return
  const { systemNamespace: namespace }: NamingProfile = server.profile
  const client = createInProcessClient(server, { user: apiServerUser, namespace })
  const found = await client.get(configMaps, name).catch((error: unknown) => {
    if (ApiError.is(error) && error.reason === 'NotFound') return undefined
    throw error
  })
  const fieldManager = 'kube-apiserver'
  if (found === undefined) await client.create(configMaps, { metadata: { name }, data }, { fieldManager })
  else if (Object.entries(data).some(([key, text]) => found.data?.[key] !== text))
    await client.patch(configMaps, name, { type: 'merge', patch: { data }, fieldManager })
}

function trusted(options: AuthenticationOptions, { clientCa, frontCa }: CertificateBundles): Record<string, string> {
  const list = (texts: readonly string[]) => JSON.stringify(texts)
  return {
    ...(clientCa === undefined ? {} : { 'client-ca-file': clientCa() }),
    ...(frontCa === undefined
      ? {}
      : {
          'requestheader-client-ca-file': frontCa(),
          'requestheader-allowed-names': list(options.requestheaderAllowedNames),
          'requestheader-username-headers': list(options.requestheaderUsernameHeaders),
          'requestheader-uid-headers': list(options.requestheaderUidHeaders),
          'requestheader-group-headers': list(options.requestheaderGroupHeaders),
          'requestheader-extra-headers-prefix': list(options.requestheaderExtraHeadersPrefix),
        }),
  }
}
