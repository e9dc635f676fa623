/** Names of webhook configurations, policies and bindings that are reserved for objects that the server reads from files. */

import type { ApiObject, DeepReadonly, Features } from '@krmkit/meta'
import { gateEnabled } from '@krmkit/meta/feature-gates'
import { goQuote } from '@krmkit/meta/go-text'
import type { StrategyContext } from '../../interfaces.ts'
import type { ContextErrorList } from '../shared/field-path.ts'

/** Refuses a reserved name for a new object, where files may hold such objects. */
export function validateReservedName({ metadata }: DeepReadonly<ApiObject>, errors: ContextErrorList): void {
  const { features, profile } = errors.context
  const { name = '' } = metadata
  const suffix = `.static.${profile.apiDomain}`
  if (name.endsWith(suffix) && isRefused(features)) errors.child('metadata').child('name').invalid(name, reserved(suffix))
}

/** Warns of a reserved name: for a new object where it is not refused, and for every update. */
export function reservedNameWarnings(
  { metadata }: DeepReadonly<ApiObject>,
  old: DeepReadonly<ApiObject> | undefined,
  { features, profile }: StrategyContext,
): string[] {
  const { name = '' } = metadata
  const suffix = `.static.${profile.apiDomain}`
  if (!name.endsWith(suffix) || !features.release.atLeast('1.36')) return []
  if (old === undefined && isRefused(features)) return []
  return [`metadata.name: ${reserved(suffix)}`]
}

function isRefused(features: Features): boolean {
  return gateEnabled('ManifestBasedAdmissionControlConfig', features)
}

function reserved(suffix: string): string {
  return `names ending with ${goQuote(suffix)} are reserved for static manifest-based configurations and cannot be managed via the API`
}
