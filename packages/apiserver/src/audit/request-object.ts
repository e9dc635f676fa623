import type { JsonValue } from '@krmkit/meta'
import { copyJson } from '@krmkit/schema/json'
import type { ObjectIdentity, RequestContext } from '../request/context.ts'

/**
 * Records the object of a request for audit events, unless the request is not audited. Only the first call counts, because changes
 * are retried after conflicts. The object is copied, so that the caller may modify it afterwards.
 */
export function recordRequestObject(context: RequestContext, object: unknown): void {
  const { auditLevel } = context
  if (auditLevel === 'None' || context.requestObject !== undefined) return
  const value = auditLevel === 'Metadata' ? undefined : (copyJson(object) as JsonValue)
  context.requestObject = { identity: identityOf(object), value }
}

function identityOf(object: unknown): ObjectIdentity {
  const { metadata } = (typeof object === 'object' && object !== null ? object : {}) as { metadata?: unknown }
  if (typeof metadata !== 'object' || metadata === null) return {}
  const { name, namespace, uid, resourceVersion } = metadata as Record<string, unknown>
  return { name: text(name), namespace: text(namespace), uid: text(uid), resourceVersion: text(resourceVersion) }
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}
