import { describe, expect, it } from 'vitest'
import { gitVersion, versionDocument } from './version.ts'

const options = {
  release: '1.33',
  software: '0.1.0',
  runtime: { name: 'node', version: 'v20.20.2', engine: 'v8' },
  platform: { os: 'linux', architecture: 'x64' },
} as const

describe('/version', () => {
  it('names the release as a semantic version with the software in the build part', () => {
    expect(gitVersion({ ...options, patch: 4 })).toBe('v1.33.4+krmkit.0.1.0')
    expect(gitVersion({ ...options, software: '0.1.0 beta/2' })).toMatch(/^v(\d+)\.(\d+)\.(\d+)\+[0-9A-Za-z.-]+$/)
  })

  it('has the members of kube-apiserver in the same order', () => {
    expect(Object.keys(versionDocument(options))).toEqual([
      'major',
      'minor',
      'emulationMajor',
      'emulationMinor',
      'minCompatibilityMajor',
      'minCompatibilityMinor',
      'gitVersion',
      'gitCommit',
      'gitTreeState',
      'buildDate',
      'goVersion',
      'compiler',
      'platform',
    ])
  })

  it('names the actual runtime and platform', () => {
    expect(versionDocument({ ...options, build: { commit: 'abc', clean: true, date: '2025-01-01T00:00:00Z' } })).toMatchObject({
      major: '1',
      minor: '33',
      goVersion: 'node20.20.2',
      compiler: 'v8',
      platform: 'linux/amd64',
      gitCommit: 'abc',
      gitTreeState: 'clean',
    })
  })

  it('names the emulated release', () => {
    expect(versionDocument({ ...options, emulates: '1.31' })).toMatchObject({
      minor: '33',
      emulationMinor: '31',
      minCompatibilityMajor: '1',
      minCompatibilityMinor: '30',
    })
  })
})
