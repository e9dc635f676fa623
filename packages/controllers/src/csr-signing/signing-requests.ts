import { type ResourceType, resourceType } from '@krmkit/client'
import type { ApiObject, DeepReadonly, NamingProfile } from '@krmkit/meta'

export interface SigningRequest extends ApiObject {
  spec: {
    request?: string | null
    signerName?: string
    usages?: string[]
    expirationSeconds?: number
    username?: string
    uid?: string
    groups?: string[]
    extra?: Record<string, string[]>
  }
  status?: { certificate?: string; conditions?: RequestCondition[] }
}

export interface RequestCondition {
  type: string
  status: string
  reason?: string
  message?: string
  lastUpdateTime?: string | null
}

export function signingRequests({ apiDomain }: Pick<NamingProfile, 'apiDomain'>): ResourceType<SigningRequest> {
  const group = `certificates.${apiDomain}`
  const [resource, kind] = ['certificatesigningrequests', 'CertificateSigningRequest']
  return resourceType<SigningRequest>({ group, version: 'v1', resource, kind, namespaced: false })
}

export function hasCondition({ status }: DeepReadonly<SigningRequest>, type: string): boolean {
  return (status?.conditions ?? []).some((condition) => condition.type === type)
}

/** Returns a copy with an additional condition. */
export function withCondition(request: DeepReadonly<SigningRequest>, condition: RequestCondition): SigningRequest {
  const next = structuredClone(request) as SigningRequest
  next.status = { ...next.status, conditions: [...(next.status?.conditions ?? []), condition] }
  return next
}
