import type { JsonValue } from '@krmkit/meta'
import { copyJson } from '@krmkit/schema'
import type { RequestContext } from '../request-context.ts'
import type { ObjectIdentity } from './bodies.ts'

/**
 * Notes what a request wants to write, where a trail is kept. The first note counts: changes run again when another writer was
 * first. Whoever made the object may go on changing it.
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
