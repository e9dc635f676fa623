/** Parameters for drivers, which only they understand. */
import type { DeepReadonly } from '@krmkit/meta'
import { utf8Length } from '@krmkit/meta/go-text'
import type { OpaqueDeviceConfiguration } from '../../types/resource-v1beta1.generated.ts'
import type { FieldPath } from '../shared/field-path.ts'
import { isSet, type R } from '../shared/values.ts'
import { validateDriverName } from '../shared/volume-network.ts'

/** Bytes of the longest parameters, and of the longest data of a device. */
const longestParameters = 10 * 1024

export interface ConfigurationOptions {
  /** The object has these parameters already; they may be of any length. */
  readonly stored: boolean
}

export function validateConfiguration(
  { opaque }: DeepReadonly<{ opaque?: OpaqueDeviceConfiguration }>,
  at: FieldPath,
  options: ConfigurationOptions,
): void {
  const here = at.child('opaque')
  if (!isSet(opaque)) {
    here.required()
    return
  }
  validateDriverName(opaque.driver ?? '', here.child('driver'))
  validateRawObject(opaque.parameters, here.child('parameters'), options)
}

/** A JSON object of any content. */
export function validateRawObject(value: R<unknown>, at: FieldPath, { stored }: ConfigurationOptions): void {
  if (!isSet(value)) at.required()
  else if (!stored && utf8Length(JSON.stringify(value)) > longestParameters) at.tooLong('', longestParameters)
  else if (typeof value !== 'object' || Array.isArray(value)) {
    const isLater = at.errors.context.features.release.atLeast('1.34')
    at.invalid('<value omitted>', `${isLater ? '' : 'parameters '}must be a valid JSON object`)
  }
}
