import { resourceType } from '@krmkit/client'
import type { ApiObject, DeepReadonly, NamingProfile } from '@krmkit/meta'

/** The token that a Secret asks for. */
export interface LegacyTokenRequest {
  readonly namespace: string
  readonly secretName: string
  readonly accountName: string
  readonly accountUid: string
}

/** Makes the tokens that Secrets of service accounts hold: they do not expire. */
export type LegacyTokenIssuer = (request: LegacyTokenRequest) => Promise<string>

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

/** The account that a Secret names in its annotations; the uid is empty while nobody has filled it in. */
export function accountRefOf(secret: DeepReadonly<Secret>, { domain }: NamingProfile): { name: string; uid: string } {
  const { annotations = {} } = secret.metadata
  return {
    name: annotations[`${domain}/service-account.name`] ?? '',
    uid: annotations[`${domain}/service-account.uid`] ?? '',
  }
}

/** Whether an account is the one that a Secret names: of that name, and not made again since. */
export function belongsTo(secret: DeepReadonly<Secret>, account: DeepReadonly<ApiObject>, profile: NamingProfile): boolean {
  const { name, uid } = accountRefOf(secret, profile)
  return name === account.metadata.name && (uid === '' || uid === account.metadata.uid)
}

export function base64(text: string): string {
  return Buffer.from(text).toString('base64')
}
