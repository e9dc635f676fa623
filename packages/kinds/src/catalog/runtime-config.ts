import { KindsError } from '../errors.ts'

/**
 * Which group versions and resources are served, as set by the flag `--runtime-config`.
 *
 * `api/all`, `api/ga`, `api/beta`, `api/alpha` switch all versions of a stability; `group/version` switches one version (`v1`
 * or `api/v1` is the core group) and `group/version/resource` one resource. The narrower key wins, regardless of order.
 *
 * @see API protocol specification, 9.2
 */
export interface RuntimeConfig {
  /** @returns whether the resource is served; `byDefault` if no key applies. */
  enabled(group: string, version: string, resource: string, byDefault: boolean): boolean
  /** Group versions and resources named by keys, as `group/version` or `group/version/resource`; `/v1` is the core group. */
  readonly named: readonly string[]
}

const truths = new Map<string, boolean>([
  ...['1', 't', 'T', 'TRUE', 'true', 'True'].map((text) => [text, true] as const),
  ...['0', 'f', 'F', 'FALSE', 'false', 'False'].map((text) => [text, false] as const),
])

/** Stability classes that one key switches; a later entry overrides an earlier one. */
const classes: readonly (readonly [string, (version: string) => boolean])[] = [
  ['api/all', () => true],
  ['api/ga', (version) => /^v[0-9]+$/.test(version)],
  ['api/beta', (version) => /^v[0-9]+beta[0-9]+$/.test(version)],
  ['api/alpha', (version) => /^v[0-9]+alpha[0-9]+$/.test(version)],
]

/**
 * Parses `key[=value]` pairs, comma-separated or as an object; a missing value means true.
 *
 * @throws KindsError `InvalidRuntimeConfig` for a key or value that cannot be parsed.
 * @example
 * import { parseRuntimeConfig } from '@krmkit/kinds'
 * const config = parseRuntimeConfig('api/beta=true,batch/v1/cronjobs=false')
 * config.enabled('batch', 'v1', 'cronjobs', true) // false
 */
export function parseRuntimeConfig(config: string | Readonly<Record<string, boolean | string>>): RuntimeConfig {
  const entries = typeof config === 'string' ? splitPairs(config) : Object.entries(config)
  const all = new Map<string, boolean>()
  const exact = new Map<string, boolean>()
  for (const [rawKey, rawValue] of entries) {
    const key = rawKey.trim()
    const value = typeof rawValue === 'boolean' ? rawValue : rawValue === '' ? true : truths.get(rawValue.trim())
    if (value === undefined)
      throw new KindsError({ code: 'InvalidRuntimeConfig', message: `invalid value of ${key}: ${rawValue}` })
    if (classes.some(([name]) => name === key)) all.set(key, value)
    else exact.set(canonicalKey(key), value)
  }
  return {
    named: [...exact.keys()],
    enabled(group, version, resource, byDefault) {
      const narrow = exact.get(`${group}/${version}/${resource}`) ?? exact.get(`${group}/${version}`)
      if (narrow !== undefined) return narrow
      let answer = byDefault
      for (const [name, covers] of classes) if (all.has(name) && covers(version)) answer = all.get(name)!
      return answer
    },
  }
}

function splitPairs(text: string): (readonly [string, string])[] {
  return text
    .split(',')
    .filter((pair) => pair.trim() !== '')
    .map((pair) => {
      const at = pair.indexOf('=')
      return at < 0 ? [pair, ''] : [pair.slice(0, at), pair.slice(at + 1)]
    })
}

function canonicalKey(key: string): string {
  const tokens = key.split('/')
  if (tokens.length === 1 && tokens[0] === 'v1') return '/v1'
  if (tokens[0] === 'api' && tokens[1] === 'v1') tokens[0] = ''
  const [, version, ...rest] = tokens
  if (version === undefined || version === '' || rest.length > 1 || tokens[0] === 'api' || rest[0] === '') {
    throw new KindsError({ code: 'InvalidRuntimeConfig', message: `runtime-config invalid key ${key}` })
  }
  return tokens.join('/')
}
