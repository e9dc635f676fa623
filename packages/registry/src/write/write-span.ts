import { inSpan, type RequestSpan } from '@krmkit/meta/tracing'
import type { WriteContext } from '../interfaces.ts'
import type { StoreInternals } from '../internals.ts'
import { objectKey } from '../keys.ts'

/** The spans of writes, named like those of the stock server whatever the storage is. */
export type WriteSpanName = 'Create etcd3' | 'GuaranteedUpdate etcd3'

interface WrittenObject {
  readonly namespace: string
  readonly name: string
}

/** Runs a write in its span. */
export function inWriteSpan<T>(
  { definition }: StoreInternals,
  span: WriteContext['span'],
  { name, at }: { readonly name: WriteSpanName; readonly at: WrittenObject },
  write: (span: RequestSpan | undefined) => Promise<T>,
): Promise<T> {
  if (span?.isRecording !== true) return write(undefined)
  const { group, resource } = definition.storage
  const fields = () => ({
    'audit-id': span.auditId,
    key: objectKey(definition, at.namespace, at.name),
    type: definition.kind.kind,
    resource: group === '' ? resource : `${resource}.${group}`,
  })
  return inSpan(span, name, fields, write)
}
