import { createFeatures, stockProfile } from '@krmkit/meta'
import { describe, expect, it } from 'vitest'
import type { AppArmorProfile, Pod } from '../../../types/core-v1.generated.ts'
import { syncAppArmor } from './app-armor.ts'

const key = 'container.apparmor.security.beta.kubernetes.io/main'

function synced(annotation: string | undefined, field: AppArmorProfile | undefined, release?: string) {
  const warnings: string[] = []
  const pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'a', ...(annotation === undefined ? {} : { annotations: { [key]: annotation } }) },
    spec: { containers: [{ name: 'main', ...(field === undefined ? {} : { securityContext: { appArmorProfile: field } }) }] },
  } as Pod
  syncAppArmor(pod, { profile: stockProfile, features: createFeatures(release), warn: (text) => warnings.push(text) })
  return {
    annotation: pod.metadata.annotations?.[key],
    field: pod.spec?.containers?.[0]?.securityContext?.appArmorProfile,
    warnings,
  }
}

describe('syncAppArmor', () => {
  it('sets the annotation of a field', () => {
    expect(synced(undefined, { type: 'Localhost', localhostProfile: 'a' }).annotation).toBe('localhost/a')
    expect(synced(undefined, undefined)).toEqual({ annotation: undefined, field: undefined, warnings: [] })
  })

  it('leaves annotations as they are since 1.34', () => {
    expect(synced(undefined, { type: 'Unconfined' }, '1.34').annotation).toBeUndefined()
    expect(synced('unconfined', undefined, '1.34').field).toEqual({ type: 'Unconfined' })
  })

  it('sets the field of an annotation and warns of it', () => {
    const warnings = [`metadata.annotations[${key}]: deprecated since v1.30; use the "appArmorProfile" field instead`]
    expect(synced('unconfined', undefined)).toEqual({ annotation: 'unconfined', field: { type: 'Unconfined' }, warnings })
    expect(synced('localhost/', undefined)).toEqual({ annotation: 'localhost/', field: undefined, warnings })
  })
})
