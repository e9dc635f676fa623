import { type NamingProfile, stockProfile } from '@krmkit/meta'

/** Steps of conversions as data: what changes at a path of an object, in both directions. */

/** A JSON object of unknown shape. */
export type Loose = Readonly<Record<string, unknown>>

/**
 * Called for a member that the target version cannot express.
 *
 * @param path path from the root of the object, such as `spec.rules[0].backend`
 */
export type OnLoss = (path: string, reason: string) => void

/** Tells a step where it is and what it cannot carry over. */
export interface StepContext {
  /** Path of the object that the step changes. */
  readonly path: string
  /** Names of labels and annotations. */
  readonly profile: NamingProfile
  /** Reports a member of that object. */
  readonly lose: (member: string, reason: string) => void
}

export type Rewrite = (object: Loose, context: StepContext) => Loose

/**
 * A change at a path. The hub is the version that all others are converted to and from. Steps run in order towards the hub and in
 * reverse order from it.
 */
export interface Step {
  /** `spec.rules[].http.paths[]`; empty for the whole object. */
  readonly at: string
  readonly toHub?: Rewrite
  readonly fromHub?: Rewrite
  /** The step writes out defaults of a version. Servers skip it: their objects have them already. */
  readonly isDefaulting?: boolean
}

/** Members with another name in the hub. */
export function rename(at: string, names: Readonly<Record<string, string>>): Step {
  const back = Object.fromEntries(Object.entries(names).map(([former, hub]) => [hub, former]))
  return { at, toHub: (object) => renamed(object, names), fromHub: (object) => renamed(object, back) }
}

/**
 * Writes the defaults of a version, where the versions imply different values.
 *
 * @param former defaults of the former version
 * @param hub defaults of the hub for the same members
 */
export function defaults(at: string, former: Loose | ((profile: NamingProfile) => Loose), hub: Loose = {}): Step {
  return {
    at,
    toHub: (object, { profile }) => filled(object, typeof former === 'function' ? former(profile) : former),
    fromHub: (object) => filled(object, hub),
    isDefaulting: true,
  }
}

export interface RunOptions {
  readonly direction: 'toHub' | 'fromHub'
  readonly onLoss: OnLoss
  /** Default: the stock names. */
  readonly profile?: NamingProfile
}

/** Runs steps on an object. Shares unchanged members with it and never changes it. */
export function applyTable(
  steps: readonly Step[],
  object: Loose,
  { direction, onLoss, profile = stockProfile }: RunOptions,
): Loose {
  const ordered = direction === 'toHub' ? steps : steps.toReversed()
  return ordered.reduce((current, { at, [direction]: rewrite }) => {
    if (rewrite === undefined) return current
    return changeAt(current, at === '' ? [] : at.split('.'), '', (part, path) =>
      rewrite(part, { path, profile, lose: (member, reason) => onLoss(joined(path, member), reason) }),
    )
  }, object)
}

function changeAt(object: Loose, steps: readonly string[], path: string, change: (part: Loose, path: string) => Loose): Loose {
  const [step, ...rest] = steps
  if (step === undefined) return change(object, path)
  const isList = step.endsWith('[]')
  const name = isList ? step.slice(0, -2) : step
  const value = object[name]
  const below = joined(path, name)
  if (!isList) return isLoose(value) ? { ...object, [name]: changeAt(value, rest, below, change) } : object
  if (!Array.isArray(value)) return object
  const items = value.map((item: unknown, index) => (isLoose(item) ? changeAt(item, rest, `${below}[${index}]`, change) : item))
  return { ...object, [name]: items }
}

function joined(path: string, member: string): string {
  return path === '' ? member : `${path}.${member}`
}

export function isLoose(value: unknown): value is Loose {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Whether a member counts as unset. */
export function isUnset(value: unknown): boolean {
  return value === undefined || value === null
}

/** The same members under other names, in the same order. */
export function renamed(object: Loose, names: Readonly<Record<string, string>>): Loose {
  return Object.fromEntries(
    Object.entries(object).map(([name, value]) => [Object.hasOwn(names, name) ? (names[name] as string) : name, value]),
  )
}

/** Adds the members that are unset. */
export function filled(object: Loose, members: Loose): Loose {
  const missing = Object.entries(members).filter(([name]) => isUnset(object[name]))
  return missing.length === 0 ? object : { ...object, ...Object.fromEntries(missing) }
}

export function without(object: Loose, ...names: readonly string[]): Loose {
  return Object.fromEntries(Object.entries(object).filter(([name]) => !names.includes(name)))
}

/** Replaces a member at its position; undefined removes it. */
export function replaced(object: Loose, name: string, members: Loose): Loose {
  return Object.fromEntries(
    Object.entries(object).flatMap(([each, value]) =>
      each === name ? Object.entries(members).filter(([, member]) => member !== undefined) : [[each, value]],
    ),
  )
}

/** Sets or removes (undefined) an annotation of an object. */
export function withAnnotation(object: Loose, name: string, value: string | undefined): Loose {
  const metadata = isLoose(object['metadata']) ? object['metadata'] : {}
  const before = isLoose(metadata['annotations']) ? metadata['annotations'] : {}
  if (value === undefined && !Object.hasOwn(before, name)) return object
  const rest = without(before, name)
  const annotations = value === undefined ? rest : { ...rest, [name]: value }
  const isEmpty = Object.keys(annotations).length === 0
  return { ...object, metadata: isEmpty ? without(metadata, 'annotations') : { ...metadata, annotations } }
}

export function annotationOf(object: Loose, name: string): string | undefined {
  const metadata = isLoose(object['metadata']) ? object['metadata'] : {}
  const annotations = isLoose(metadata['annotations']) ? metadata['annotations'] : {}
  const value = Object.hasOwn(annotations, name) ? annotations[name] : undefined
  return typeof value === 'string' ? value : undefined
}
