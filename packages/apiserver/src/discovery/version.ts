import type { JsonObject } from '@krmkit/meta'

/** The document of `/version`. */

export interface VersionOptions {
  /** Release of the API, as `1.33`. */
  readonly release: string
  /** Patch level of that release. Default 0. */
  readonly patch?: number
  /** Semantic version of this software: `0.1.0`. */
  readonly software: string
  /** Release whose behaviour is emulated, as `1.31`. Default: `release`. */
  readonly emulates?: string
  /** Name and version of the language runtime, such as `node` and `20.20.2`. */
  readonly runtime: { readonly name: string; readonly version: string; readonly engine: string }
  /** Operating system and architecture as named by the runtime: `linux`, `x64`. */
  readonly platform: { readonly os: string; readonly architecture: string }
  /** Full hash of the commit, and the build date in RFC 3339. */
  readonly build?: { readonly commit?: string; readonly clean?: boolean; readonly date?: string }
}

/** `v1.33.0+krmkit.0.1.0`: a semantic version whose build part names this software. */
export function gitVersion(options: Pick<VersionOptions, 'release' | 'patch' | 'software'>): string {
  const build = options.software.replace(/[^0-9A-Za-z.-]/g, '-')
  return `v${options.release}.${options.patch ?? 0}+krmkit.${build}`
}

/** The document, with members in the order of kube-apiserver. */
export function versionDocument(options: VersionOptions): JsonObject {
  const { build, platform, release, runtime } = options
  const [major, minor] = parseRelease(release)
  const [emulationMajor, emulationMinor] = parseRelease(options.emulates ?? release)
  return {
    major,
    minor,
    ...(hasEmulation(release)
      ? {
          emulationMajor,
          emulationMinor,
          minCompatibilityMajor: emulationMajor,
          minCompatibilityMinor: String(Math.max(0, Number(emulationMinor) - 1)),
        }
      : {}),
    gitVersion: gitVersion(options),
    gitCommit: build?.commit ?? '',
    gitTreeState: build?.clean === undefined ? '' : build.clean ? 'clean' : 'dirty',
    buildDate: build?.date ?? '1970-01-01T00:00:00Z',
    goVersion: `${runtime.name}${runtime.version.replace(/^v/, '')}`,
    compiler: runtime.engine,
    platform: `${osNames[platform.os] ?? platform.os}/${architectureNames[platform.architecture] ?? platform.architecture}`,
  }
}

/** Whether the document of a release has the members about emulation. */
export function hasEmulation(release: string): boolean {
  const [major, minor] = parseRelease(release).map(Number)
  return major !== 1 || minor === undefined || minor >= 33
}

function parseRelease(release: string): [major: string, minor: string] {
  const [major = '0', minor = '0'] = release.replace(/^v/, '').split('.')
  return [major, minor]
}

const osNames: Readonly<Record<string, string>> = { win32: 'windows' }
const architectureNames: Readonly<Record<string, string>> = { x64: 'amd64', ia32: '386' }
