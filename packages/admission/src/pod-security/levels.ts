/** The three standards, their versions, and how namespaces choose among them. */

export type Level = 'privileged' | 'baseline' | 'restricted'

export const levels: readonly Level[] = ['privileged', 'baseline', 'restricted']

/** A standard as it was in a release: the minor number, `Infinity` for the newest. */
export interface LevelVersion {
  readonly level: Level
  readonly minor: number
}

/** What namespaces ask for: what is refused, what is noted in the audit trail, and what is warned of. */
export interface PodPolicy {
  readonly enforce: LevelVersion
  readonly audit: LevelVersion
  readonly warn: LevelVersion
}

export const modes = ['enforce', 'audit', 'warn'] as const
export type Mode = (typeof modes)[number]

/** `restricted:v1.24`, `baseline:latest`. */
export function formatLevelVersion({ level, minor }: LevelVersion): string {
  return `${level}:${minor === Infinity ? 'latest' : `v1.${minor}`}`
}

export function parseLevel(text: string): Level | undefined {
  return levels.find((level) => level === text)
}

/** The minor number of `v1.24`; `Infinity` for `latest`; undefined for anything else. */
export function parseVersion(text: string): number | undefined {
  if (text === 'latest') return Infinity
  const match = /^v1\.(0|[1-9][0-9]{0,8})$/.exec(text)
  return match === null ? undefined : Number(match[1])
}

/** How much stricter the first is. */
export function compareLevels(a: Level, b: Level): number {
  return levels.indexOf(a) - levels.indexOf(b)
}

export function sameLevelVersion(a: LevelVersion, b: LevelVersion): boolean {
  return a.level === b.level && a.minor === b.minor
}

export function isPrivileged({ enforce, audit, warn }: PodPolicy): boolean {
  return enforce.level === 'privileged' && audit.level === 'privileged' && warn.level === 'privileged'
}
