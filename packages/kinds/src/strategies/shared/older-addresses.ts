/** Addresses and ranges of kinds that are older than the strict rules, which the gate `StrictIPCIDRValidation` applies to them. */

import { validateCIDR, validateIP } from '@krmkit/base/ip'
import { gateEnabled } from '@krmkit/meta/feature-gates'
import type { FieldPath } from './field-path.ts'
import { validateUnambiguousAddress, validateUnambiguousRange } from './strict-address.ts'
import { isEmpty } from './values.ts'

const none: ReadonlySet<string> = new Set()

/**
 * The texts of a stored object, which stay valid in an update. A set, since a search of the list for every text of the update would take
 * quadratic time.
 */
export function keptTexts(texts: readonly string[] | undefined): ReadonlySet<string> {
  return isEmpty(texts) ? none : new Set(texts)
}

/** Reports an address that is invalid and not one of `kept`. @param kept the addresses of the stored object. @returns whether it may be used. */
export function validateIpAddress(address: string, at: FieldPath, kept: ReadonlySet<string> = none): boolean {
  return report(address, at, kept, isStrict(at) ? validateUnambiguousAddress : validateIP)
}

/** Reports a CIDR. @see {@link validateIpAddress} */
export function validateIpRange(range: string, at: FieldPath, kept: ReadonlySet<string> = none): boolean {
  return report(range, at, kept, isStrict(at) ? validateUnambiguousRange : validateCIDR)
}

function report(text: string, at: FieldPath, kept: ReadonlySet<string>, problems: (text: string) => readonly string[]): boolean {
  if (kept.has(text)) return true
  const found = problems(text)
  at.invalidAll(text, found)
  return found.length === 0
}

function isStrict({ errors }: FieldPath): boolean {
  return gateEnabled('StrictIPCIDRValidation', errors.context.features)
}
