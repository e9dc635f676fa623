import { type ApiObject, type DeepReadonly, formatApiVersion, type GroupVersionKind, type NamingProfile } from '@krmkit/meta'

/** Translates an object of one version of a kind to another; never changes its argument. */
export type Convert = (object: DeepReadonly<ApiObject>) => ApiObject

/** Makes the translation to `to`, with the annotations and groups that a profile names. */
export type MakeConvert = (to: GroupVersionKind, profile: NamingProfile) => Convert

/** A JSON object of no known shape. */
export type Loose = Readonly<Record<string, unknown>>

/** The same shape under another apiVersion. Members are shared with the argument, not copied. */
export const sameShape: MakeConvert = (to) => {
  const apiVersion = formatApiVersion(to)
  return (object) => ({ ...(object as ApiObject), apiVersion })
}

/** Leaves out members that are undefined, so that they are absent rather than unset. */
export function present(members: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const result: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(members)) if (value !== undefined) result[name] = value
  return result
}

/** The value, or undefined when it is what an absent member means: empty text, zero, false, null. */
export function unlessEmpty<T>(value: T): T | undefined {
  return value === '' || value === 0 || value === false || value === null ? undefined : value
}
