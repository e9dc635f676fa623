import { createFeatures } from '@krmkit/meta'
import { describe, expect, it } from 'vitest'
import { stageChecks } from './health-stages.ts'

const namesAt = (release: string) =>
  stageChecks({ aggregation: true, flowControl: true, roles: true }, [], createFeatures(release)).map(({ name }) => name)

describe('checks of start-up hooks', () => {
  it('name one controller of API services before 1.31, and two since', () => {
    const controllers = (release: string) => namesAt(release).filter((name) => name.includes('apiservice-status'))
    const named = (...names: string[]) => names.map((name) => `poststarthook/apiservice-status-${name}-controller`)
    expect(controllers('1.30')).toEqual(named('available'))
    expect(controllers('1.31')).toEqual(named('local-available', 'remote-available'))
  })

  it('name the service ranges while their gate is on', () => {
    const name = 'poststarthook/start-kubernetes-service-cidr-controller'
    expect([namesAt('1.32').includes(name), namesAt('1.33').includes(name)]).toEqual([false, true])
  })
})
