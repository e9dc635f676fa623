import { bootstrapSecretType, clusterInfoName } from '@krmkit/certificates'
import { type Informer, resourceType } from '@krmkit/client'
import type { ApiObject } from '@krmkit/meta'
import type { ControllerContext } from '../interfaces.ts'

/** What the controllers of bootstrap tokens enqueue at. */

export interface TokenSecret extends ApiObject {
  type?: string
  data?: Record<string, string>
}

export interface ClusterInfo extends ApiObject {
  data?: Record<string, string>
}

export const secrets = resourceType<TokenSecret>({ group: '', version: 'v1', resource: 'secrets', kind: 'Secret' })
export const configMaps = resourceType<ClusterInfo>({ group: '', version: 'v1', resource: 'configmaps', kind: 'ConfigMap' })

/** Secrets of bootstrap tokens in the system namespace, whatever they are called. */
export function tokenSecrets({ informers, profile }: Pick<ControllerContext, 'informers' | 'profile'>): Informer<TokenSecret> {
  const fieldSelector = `metadata.namespace=${profile.systemNamespace},type=${bootstrapSecretType(profile)}`
  return informers.of(secrets, { fieldSelector })
}

/** The ConfigMap that tells how to reach the cluster. */
export function clusterInfo({ informers, profile }: Pick<ControllerContext, 'informers' | 'profile'>): Informer<ClusterInfo> {
  const fieldSelector = `metadata.name=${clusterInfoName},metadata.namespace=${profile.publicNamespace}`
  return informers.of(configMaps, { fieldSelector })
}
