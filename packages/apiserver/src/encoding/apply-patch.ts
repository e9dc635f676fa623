import type { Work } from '@krmkit/base/work'
import { jsonPatch, mergePatch, strategicMergePatch } from '@krmkit/fieldmanager/paced'
import type { JsonValue } from '@krmkit/meta'
import type { PatchRequest } from './patch-request.ts'
import { withoutTests } from './sent-floats.ts'

/** The result of a JSON, merge or strategic merge patch. @throws FieldManagerError */
export function* applyPatch({ target, body }: Pick<PatchRequest, 'target' | 'body'>, original: JsonValue): Work<JsonValue> {
  const { kind, value: patch, tested } = body
  if (kind === 'merge') return yield* mergePatch(original, patch)
  if (kind !== 'json') return yield* strategicMergePatch(target.type(), original, patch)
  if (tested === undefined) return yield* jsonPatch(original, patch)
  yield* jsonPatch(original, tested)
  return yield* jsonPatch(original, withoutTests(patch))
}
