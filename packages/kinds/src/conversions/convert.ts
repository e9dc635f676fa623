import { type ApiObject, type DeepReadonly, formatApiVersion, type GroupVersionKind, type NamingProfile } from '@krmkit/meta'

/** Converts an object of one version of a kind to another; never changes its argument. */
export type Convert = (object: DeepReadonly<ApiObject>) => ApiObject

/** Creates the conversion to `to`, with the annotations and groups of a profile. */
export type ConvertFactory = (to: GroupVersionKind, profile: NamingProfile) => Convert

/** A JSON object of unknown shape. */
export type Loose = Readonly<Record<string, unknown>>

/** The same shape with another apiVersion. Shares members with the argument. */
export const sameShape: ConvertFactory = (to) => {
  const apiVersion = formatApiVersion(to)
  return (object) => ({ ...(object as ApiObject), apiVersion })
}

/** Drops members that are undefined, so that they are absent. */
export function omitUndefined(members: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const result: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(members)) if (value !== undefined) result[name] = value
  return result
}

/** The value, or undefined for a zero value: empty text, zero, false, null. */
export function omitZero<T>(value: T): T | undefined {
  return value === '' || value === 0 || value === false || value === null ? undefined : value
}
