import { KindsError } from '../kinds-error.ts'

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
 * Parses `key[=value]` pairs, comma-separated or as an object; a missing value means true. `v1` and `api/v1` mean the core group;
 * `api/legacy` has no effect.
 *
 * Differs: kube-apiserver refuses `api/all` and the other classes without a value.
 *
 * @throws KindsError `InvalidRuntimeConfig` for a key or value that cannot be parsed, with the text of kube-apiserver.
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
    const value = String(rawValue).trim()
    if (key === 'api/legacy') continue
    if (classes.some(([name]) => name === key)) all.set(key, classValue(key, value))
    else exact.set(canonicalKey(key), switchValue(key, value))
  }
  if (all.size === 1 && exact.size === 0 && all.get('api/all') === false) throw invalid('invalid key with only api/all=false')
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

function classValue(key: string, value: string): boolean {
  if (value !== '' && value !== 'true' && value !== 'false') throw invalid(`invalid value ${key}=${value}`)
  return value !== 'false'
}

function switchValue(key: string, value: string): boolean {
  const given = value === '' ? true : truths.get(value)
  if (given === undefined) {
    throw invalid(`invalid value of ${key}: ${value}, err: strconv.ParseBool: parsing ${JSON.stringify(value)}: invalid syntax`)
  }
  return given
}

function canonicalKey(key: string): string {
  const core = /^(?:api\/)?v1(\/.*)?$/.exec(key)
  const tokens = (core === null ? key : `/v1${core[1] ?? ''}`).split('/')
  if (tokens.length < 2 || tokens.length > 3) throw invalid(`runtime-config invalid key ${key}`)
  const [, , resource] = tokens
  if (resource !== undefined && resource !== resource.toLowerCase()) {
    const form = 'group/version/resource and resource is always lowercase plural'
    throw invalid(`invalid key ${key}: ${form}, not ${JSON.stringify(resource)}`)
  }
  return tokens.join('/')
}

function invalid(message: string): KindsError {
  return new KindsError({ code: 'InvalidRuntimeConfig', message })
}
