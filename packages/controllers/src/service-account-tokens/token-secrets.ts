import { base64Text, utf8Bytes } from '@krmkit/base/bytes'
import { resourceType } from '@krmkit/client'
import type { ApiObject, DeepReadonly, NamingProfile } from '@krmkit/meta'

export interface Secret extends ApiObject {
  type?: string
  data?: Record<string, string>
}

export interface ServiceAccount extends ApiObject {
  secrets?: { name?: string }[]
}

export const secrets = resourceType<Secret>({ group: '', version: 'v1', resource: 'secrets', kind: 'Secret' })
export const serviceAccounts = resourceType<ServiceAccount>({
  group: '',
  version: 'v1',
  resource: 'serviceaccounts',
  kind: 'ServiceAccount',
})

export function tokenType({ domain }: NamingProfile): string {
  return `${domain}/service-account-token`
}

/** Returns the service account in the annotations of a Secret; the uid is empty until the controller sets it. */
export function accountRefOf(secret: DeepReadonly<Secret>, { domain }: NamingProfile): { name: string; uid: string } {
  const { annotations = {} } = secret.metadata
  return {
    name: annotations[`${domain}/service-account.name`] ?? '',
    uid: annotations[`${domain}/service-account.uid`] ?? '',
  }
}

/** Whether a Secret refers to a service account, by name and by uid if set. */
export function belongsTo(secret: DeepReadonly<Secret>, account: DeepReadonly<ApiObject>, profile: NamingProfile): boolean {
  const { name, uid } = accountRefOf(secret, profile)
  return name === account.metadata.name && (uid === '' || uid === account.metadata.uid)
}

export function base64(text: string): string {
  return base64Text(utf8Bytes(text))
}
