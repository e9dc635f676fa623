// Derived from apply-patch.ts by `npm run direct`: do not edit.

import { jsonPatch, mergePatch, strategicMergePatch } from '@krmkit/fieldmanager'
import type { JsonValue } from '@krmkit/meta'
import type { PatchRequest } from './patch-request.ts'
import { withoutTests } from './sent-floats.ts'

/** The result of a JSON, merge or strategic merge patch. @throws FieldManagerError */
export function applyPatch({ target, body }: Pick<PatchRequest, 'target' | 'body'>, original: JsonValue): JsonValue {
  const { kind, value: patch, tested } = body
  if (kind === 'merge') return mergePatch(original, patch)
  if (kind !== 'json') return strategicMergePatch(target.type(), original, patch)
  if (tested === undefined) return jsonPatch(original, patch)
  jsonPatch(original, tested)
  return jsonPatch(original, withoutTests(patch))
}
