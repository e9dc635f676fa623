import { describe, expect, it } from 'vitest'
import { createFeatures } from '../features.ts'
import { builtInFeatureGates, enabledSince, gateEnabled } from './index.ts'

describe('gateEnabled', () => {
  const at = (gate: string, release: string) => gateEnabled(gate, createFeatures(release))

  it('follows the default of the release [P332]', () => {
    expect(['1.28', '1.29', '1.33'].map((release) => at('SidecarContainers', release))).toEqual([false, true, true])
    expect(['1.26', '1.27', '1.28'].map((release) => at('SELinuxMountReadWriteOncePod', release))).toEqual([false, false, true])
  })

  it('enables WatchList in every release with streamed lists', () => {
    expect(['1.26', '1.27', '1.31', '1.33'].map((release) => at('WatchList', release))).toEqual([false, true, true, true])
    expect(gateEnabled('WatchList', createFeatures('1.33', { WatchList: false }))).toBe(false)
  })

  it('prefers the configured value', () => {
    expect(gateEnabled('SidecarContainers', createFeatures('1.33', { SidecarContainers: false }))).toBe(false)
    expect(gateEnabled('PodLevelResources', createFeatures('1.33', { PodLevelResources: true }))).toBe(true)
  })

  it('treats unknown gates as off', () => {
    expect(['Unknown', '__proto__', 'constructor'].map((gate) => at(gate, '1.33'))).toEqual([false, false, false])
  })
})

describe('enabledSince', () => {
  it('is the release from which the gate is on by default', () => {
    const names = [
      'SidecarContainers',
      'SELinuxMountReadWriteOncePod',
      'WatchList',
      'PodLevelResources',
      'InPlacePodVerticalScalingExclusiveCPUs',
      'ExecProbeTimeout',
      'Unknown',
    ]
    expect(names.map(enabledSince)).toEqual(['1.29', '1.28', '1.27', '1.34', 'never', '1.20', undefined])
  })
})

it('lists each gate once, sorted by name', () => {
  const names = builtInFeatureGates().map(({ name }) => name)
  expect(names).toEqual([...new Set(names)].sort())
})
