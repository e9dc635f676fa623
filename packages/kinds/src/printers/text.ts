import { type DeepReadonly, MetaError } from '@krmkit/meta'
import { type LabelSelectorObject, labelSelectorFromObject } from '@krmkit/meta/selectors'
import type { ParamKind } from '../types/admissionregistration-v1.generated.ts'

/** Texts of cells that several kinds share. */

/** `a=1,b=2` sorted by key, `<none>` without labels. */
export function labelsText(labels: Readonly<Record<string, string>> | null | undefined): string {
  const keys = Object.keys(labels ?? {}).sort()
  return keys.length === 0 ? '<none>' : keys.map((key) => `${key}=${labels![key]}`).join(',')
}

/** A selector in string form: `<none>` if it is empty or absent, `<error>` if it is malformed. */
export function selectorText(selector: LabelSelectorObject | null | undefined): string {
  const text = readSelector(selector)
  return text === undefined ? '<error>' : text === '' ? '<none>' : text
}

/** The string form of a selector; undefined if it is malformed. */
export function readSelector(selector: LabelSelectorObject | null | undefined): string | undefined {
  try {
    return labelSelectorFromObject(selector).toString()
  } catch (error) {
    if (error instanceof MetaError) return undefined
    throw error
  }
}

export interface NamedImage {
  readonly name: string
  readonly image?: string
}

/** Names and images of the containers of a template, comma-separated. */
export function containerCells(containers: readonly NamedImage[] | null | undefined): [names: string, images: string] {
  const all = containers ?? []
  return [all.map(({ name }) => name).join(','), all.map(({ image }) => image ?? '').join(',')]
}

/** The first `max` items and the number of the others: `a,b,c + 2 more...`. `items` may be the first ones of `total`. */
export function firstFew(
  items: readonly string[],
  max: number,
  { separator = ',', total = items.length }: { readonly separator?: string; readonly total?: number } = {},
): string {
  const shown = items.slice(0, max).join(separator)
  return total > max ? `${shown} + ${total - max} more...` : shown
}

/** Short forms of the volume access modes, in a fixed order, without duplicates. */
export function accessModesText(modes: readonly string[] | null | undefined): string {
  const given = new Set(modes ?? [])
  return accessModes
    .filter(([mode]) => given.has(mode))
    .map(([, short]) => short)
    .join(',')
}

const accessModes = [
  ['ReadWriteOnce', 'RWO'],
  ['ReadOnlyMany', 'ROX'],
  ['ReadWriteMany', 'RWX'],
  ['ReadWriteOncePod', 'RWOP'],
] as const

export function paramKindText(paramKind: DeepReadonly<ParamKind> | undefined): string {
  return paramKind === undefined ? '<unset>' : `${paramKind.apiVersion ?? ''}/${paramKind.kind ?? ''}`
}

export function countKeys(map: Readonly<Record<string, string>> | null | undefined): number {
  return Object.keys(map ?? {}).length
}

/** Without duplicates, sorted. */
export function loadBalancerAddresses(ingress: readonly LoadBalancerIngress[] | null | undefined): string[] {
  const addresses = (ingress ?? []).map(({ ip, hostname }) => ip || hostname || '').filter((address) => address !== '')
  return [...new Set(addresses)].sort()
}

export interface LoadBalancerIngress {
  readonly ip?: string
  readonly hostname?: string
}
