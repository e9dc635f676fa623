import type { ApiObject } from '@krmkit/meta'
import { copyJson } from '@krmkit/schema/json'
import type { FrozenObject, WriteContext } from '../interfaces.ts'

/** Traces the object that a request asks for. Copies it, because later steps change it in place. */
export function traceRequested(
  { trace, fieldManager }: Pick<WriteContext, 'trace' | 'fieldManager'>,
  object: ApiObject | FrozenObject,
): void {
  if (trace === undefined) return
  const { managedFields: _, ...metadata } = object.metadata
  trace({ step: 'requested', manager: fieldManager, object: copyJson({ ...object, metadata }) as FrozenObject })
}

/** Traces a write. A dry run writes nothing. */
export function traceWritten(
  { trace, dryRun }: Pick<WriteContext, 'trace' | 'dryRun'>,
  before: FrozenObject | undefined,
  after: FrozenObject | undefined,
): void {
  if (trace !== undefined && !dryRun) trace({ step: 'written', before, after })
}
