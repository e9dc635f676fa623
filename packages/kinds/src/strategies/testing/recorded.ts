/** Helpers of the replay of recorded writes: compare, merge, fill masked values. */

import { type FieldError, isJsonObject } from '@krmkit/meta'

export type Json = Record<string, unknown>

export const open = new Set(['<any>', '<masked>'])
/** Members that admission plugins of the recorded server add to pods. */
export const admitted = [
  'priority',
  'preemptionPolicy',
  'serviceAccountName',
  'serviceAccount',
  'tolerations',
  'imagePullSecrets',
]

export function texts(errors: readonly FieldError[]): string {
  return errors.map((error) => `${error.field} ${error.reason} ${error.message}`).join('\n    ')
}

export function compareCauses(errors: readonly FieldError[], causes: readonly FieldError[]): string {
  const plain = (error: FieldError) => {
    // kube-apiserver prints differences between values in a special form.
    const message = open.has(error.message)
      ? '*'
      : error.message
          .replace(/\n[\s\S]*/, '')
          .replaceAll(/\(0x[0-9a-f]+\)/g, '(nil)')
          .replaceAll(/regex used for validation is '.*'/g, 'regex')
          .replaceAll(/resource\.Quantity\{.*?"\}/g, 'resource.Quantity{}')
    return `${error.field} ${error.reason} ${message}`
  }
  const wanted = causes.map(plain)
  const got = errors
    .map(plain)
    .map((text, i) => (wanted[i]?.endsWith(' *') ? `${text.split(' ').slice(0, 2).join(' ')} *` : text))
  if (wanted.join('\n') === got.join('\n')) return 'refused'
  return `\n  expected\n    ${wanted.join('\n    ')}\n  got\n    ${got.join('\n    ')}`
}

/** Set by the server, an admission plugin or a controller. */
const foreign =
  /^spec\.(clusterIP|clusterIPs|ports\[\d+\]\.nodePort|healthCheckNodePort|taints|tolerations)\b|^(spec\.)?(template\.)?status\.lastPhase|^status\.acceptedNames\b/

export function differ(ours: unknown, theirs: unknown, to: { path: string; found: string[] }): void {
  if (open.has(theirs as string) || foreign.test(to.path) || admitted.some((name) => to.path === `spec.${name}`)) return
  if (theirs === '<time>' || (typeof theirs === 'string' && theirs.startsWith('<rv'))) return
  if (ours === theirs) return
  if (isJsonObject(ours) && isJsonObject(theirs)) {
    for (const name of new Set([...Object.keys(ours), ...Object.keys(theirs)])) {
      differ(ours[name], theirs[name], { path: `${to.path}.${name}`, found: to.found })
    }
  } else if (Array.isArray(ours) && Array.isArray(theirs) && ours.length === theirs.length) {
    for (const [i, item] of ours.entries()) differ(item, theirs[i], { path: `${to.path}[${i}]`, found: to.found })
  } else if (!(isHollow(ours) && isHollow(theirs)))
    to.found.push(`${to.path}: ${JSON.stringify(ours)} for ${JSON.stringify(theirs)}`)
}

function isHollow(value: unknown): boolean {
  return value === undefined || value === null || (Array.isArray(value) && value.length === 0)
}

export function fill(value: unknown, from: unknown): unknown {
  if (open.has(value as string)) return from === undefined ? null : structuredClone(from)
  if (Array.isArray(value)) return value.map((item, i) => fill(item, Array.isArray(from) ? from[i] : undefined))
  if (!isJsonObject(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => [name, fill(item, isJsonObject(from) ? from[name] : undefined)]),
  )
}

export function timed(value: unknown): unknown {
  if (value === '<time>') return '2020-01-02T03:04:05Z'
  if (typeof value === 'string') return value.startsWith('<') ? '1' : value
  if (Array.isArray(value)) return value.map(timed)
  return isJsonObject(value) ? Object.fromEntries(Object.entries(value).map(([name, item]) => [name, timed(item)])) : value
}

/** Whether a strategic merge patch has no lists, and so equals a JSON merge patch. */
export function isPlainMerge(patch: unknown): boolean {
  if (Array.isArray(patch)) return false
  return typeof patch !== 'object' || patch === null || Object.values(patch).every(isPlainMerge)
}

export function merge(into: unknown, patch: unknown): unknown {
  if (!isJsonObject(patch)) return patch
  const result: Json = isJsonObject(into) ? { ...(into as Json) } : {}
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) delete result[name]
    else result[name] = merge(result[name], value)
  }
  return result
}

/** Replaces variables of earlier steps in a body. */
export function substitute(value: unknown, saved: ReadonlyMap<string, unknown>): unknown {
  if (typeof value === 'string') return value.replace(/\{(\w+)\}/g, (text, name: string) => String(saved.get(name) ?? text))
  if (Array.isArray(value)) return value.map((item) => substitute(item, saved))
  return isJsonObject(value)
    ? Object.fromEntries(Object.entries(value).map(([name, item]) => [name, substitute(item, saved)]))
    : value
}

/** Warnings of other layers: deprecated kinds and unknown members. */
const foreignWarning = /^299 - "(unknown field|duplicate field|line \d|v1 \w+ is deprecated)/

/** Compares texts with the recorded `Warning` headers; undefined if they are equal. */
export function compareWarnings(texts: readonly string[], headers: readonly string[] | undefined): string | undefined {
  const wanted = (headers ?? []).filter((header) => !foreignWarning.test(header))
  const got = texts.map((text) => `299 - "${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`)
  return wanted.join('\n') === got.join('\n') ? undefined : `warnings: ${JSON.stringify(got)} for ${JSON.stringify(wanted)}`
}
