import { bootstrapSecretType, clusterInfoName } from '@krmkit/certificates/bootstrap'
import { type Informer, resourceType } from '@krmkit/client'
import type { ApiObject } from '@krmkit/meta'
import type { ControllerContext } from '../interfaces.ts'

/** The resources of the bootstrap token controllers. */

export interface TokenSecret extends ApiObject {
  type?: string
  data?: Record<string, string>
}

export interface ClusterInfo extends ApiObject {
  data?: Record<string, string>
}

export const secrets = resourceType<TokenSecret>({ group: '', version: 'v1', resource: 'secrets', kind: 'Secret' })
export const configMaps = resourceType<ClusterInfo>({ group: '', version: 'v1', resource: 'configmaps', kind: 'ConfigMap' })

/** Returns the informer of bootstrap token Secrets: those of their type in the system namespace. */
export function tokenSecrets({ informers, profile }: Pick<ControllerContext, 'informers' | 'profile'>): Informer<TokenSecret> {
  const fieldSelector = `metadata.namespace=${profile.systemNamespace},type=${bootstrapSecretType(profile)}`
  return informers.of(secrets, { fieldSelector })
}

/** Returns the informer of ConfigMap `cluster-info`. */
export function clusterInfo({ informers, profile }: Pick<ControllerContext, 'informers' | 'profile'>): Informer<ClusterInfo> {
  const fieldSelector = `metadata.name=${clusterInfoName},metadata.namespace=${profile.publicNamespace}`
  return informers.of(configMaps, { fieldSelector })
}
