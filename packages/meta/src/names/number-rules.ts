/** Ranges of numbers, with the messages of the stock server. */

/** A number in an inclusive range. */
export function validateInRange(value: number | bigint, min: number, max: number): string[] {
  return value >= min && value <= max ? [] : [`must be between ${min} and ${max}, inclusive`]
}

/** A TCP, UDP or SCTP port number. */
export function validatePortNum(port: number | bigint): string[] {
  return validateInRange(port, 1, 65535)
}

/** A user id. */
export function validateUserId(id: number | bigint): string[] {
  return validateInRange(id, 0, 2147483647)
}

/** A group id. */
export function validateGroupId(id: number | bigint): string[] {
  return validateInRange(id, 0, 2147483647)
}
