/**
 * Identity of a manager: name, operation, sub-resource, and for updates the version. Appliers have one identity for all versions.
 */
export interface ManagerId {
  readonly manager: string
  readonly operation: 'Apply' | 'Update'
  /** Empty for appliers. */
  readonly apiVersion: string
  readonly subresource: string
}

/**
 * Text of an identity, usable as a map key: equal identities have equal text.
 *
 * @example
 * ```ts
 * import { managerKey } from '@krmkit/fieldmanager/managed-fields'
 *
 * managerKey({ manager: 'ci', operation: 'Apply', apiVersion: '', subresource: '' }) // '{"manager":"ci","operation":"Apply"}'
 * ```
 */
export function managerKey({ manager, operation, apiVersion, subresource }: ManagerId): string {
  let text = '{'
  if (manager !== '') text += `"manager":${JSON.stringify(manager)},`
  text += `"operation":"${operation}"`
  if (operation === 'Update' && apiVersion !== '') text += `,"apiVersion":${JSON.stringify(apiVersion)}`
  if (subresource !== '') text += `,"subresource":${JSON.stringify(subresource)}`
  return `${text}}`
}

/**
 * The identity whose text {@link managerKey} returned.
 *
 * @example
 * ```ts
 * import { parseManagerKey } from '@krmkit/fieldmanager/managed-fields'
 *
 * parseManagerKey('{"manager":"ci","operation":"Apply"}') // { manager: 'ci', operation: 'Apply', apiVersion: '', subresource: '' }
 * ```
 */
export function parseManagerKey(key: string): ManagerId {
  const { manager = '', operation, apiVersion = '', subresource = '' } = JSON.parse(key) as Partial<ManagerId>
  return { manager, operation: operation === 'Apply' ? 'Apply' : 'Update', apiVersion, subresource }
}

/** Formats a manager as conflicts do: `"x"`, `"x" using apps/v1`, `"x" with subresource "status" using v1`. */
export function formatManager({ manager, operation, apiVersion, subresource }: ManagerId): string {
  let text = JSON.stringify(manager)
  if (subresource !== '') text += ` with subresource ${JSON.stringify(subresource)}`
  return operation === 'Update' ? `${text} using ${apiVersion}` : text
}
