/** The levels of the Pod Security Standards and their versions. */

export type Level = 'privileged' | 'baseline' | 'restricted'

export const levels: readonly Level[] = ['privileged', 'baseline', 'restricted']

/** A level as of a release: the minor version, or `Infinity` for `latest`. */
export interface LevelVersion {
  readonly level: Level
  readonly minor: number
}

/** The levels that a namespace enforces, audits and warns about. */
export interface PodPolicy {
  readonly enforce: LevelVersion
  readonly audit: LevelVersion
  readonly warn: LevelVersion
}

export const modes = ['enforce', 'audit', 'warn'] as const
export type Mode = (typeof modes)[number]

/** Formats `restricted:v1.24` or `baseline:latest`. */
export function formatLevelVersion({ level, minor }: LevelVersion): string {
  return `${level}:${minor === Infinity ? 'latest' : `v1.${minor}`}`
}

export function parseLevel(text: string): Level | undefined {
  return levels.find((level) => level === text)
}

/** The minor version of `v1.24`; `Infinity` for `latest`; undefined for other text. */
export function parseVersion(text: string): number | undefined {
  if (text === 'latest') return Infinity
  const match = /^v1\.(0|[1-9][0-9]{0,8})$/.exec(text)
  return match === null ? undefined : Number(match[1])
}

/** Positive when `a` is stricter than `b`. */
export function compareLevels(a: Level, b: Level): number {
  return levels.indexOf(a) - levels.indexOf(b)
}

export function sameLevelVersion(a: LevelVersion, b: LevelVersion): boolean {
  return a.level === b.level && a.minor === b.minor
}

export function isPrivileged({ enforce, audit, warn }: PodPolicy): boolean {
  return enforce.level === 'privileged' && audit.level === 'privileged' && warn.level === 'privileged'
}
