/** Ranges of numbers, with the messages of kube-apiserver. */

/**
 * A number in an inclusive range.
 *
 * @example
 * import { validateInRange } from '@krmkit/meta/names'
 * validateInRange(12, 0, 10) // [ 'must be between 0 and 10, inclusive' ]
 */
export function validateInRange(value: number | bigint, min: number, max: number): string[] {
  return value >= min && value <= max ? [] : [`must be between ${min} and ${max}, inclusive`]
}

/**
 * A TCP, UDP or SCTP port number.
 *
 * @example
 * import { validatePortNum } from '@krmkit/meta/names'
 * validatePortNum(8080) // []
 * validatePortNum(0) // [ 'must be between 1 and 65535, inclusive' ]
 */
export function validatePortNum(port: number | bigint): string[] {
  return validateInRange(port, 1, 65535)
}

/**
 * A user id.
 *
 * @example
 * import { validateUserId } from '@krmkit/meta/names'
 * validateUserId(1000) // []
 * validateUserId(-1).length // 1
 */
export function validateUserId(id: number | bigint): string[] {
  return validateInRange(id, 0, 2147483647)
}

/** A group id. @see {@link validateUserId} */
export function validateGroupId(id: number | bigint): string[] {
  return validateInRange(id, 0, 2147483647)
}
