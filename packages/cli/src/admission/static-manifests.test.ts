import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createFeatures, fakeClock, stockProfile } from '@krmkit/meta'
import { describe, expect, it } from 'vitest'
import { temporaryFolder } from '../testing/temporary-folder.ts'
import { readStaticManifests } from './static-manifests.ts'

const folder = temporaryFolder({ perTest: true })
const write = (name: string, text: string) => writeFileSync(join(folder, name), text)

const configurationOf = (staticManifestsDir: string, plugin = 'ValidatingAdmissionPolicy') =>
  new Map([[plugin, { apiVersion: 'apiserver.config.k8s.io/v1', kind: `${plugin}Configuration`, staticManifestsDir }]])

const policy = (name: string, spec = '') => `
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: ${name}}
spec:
  matchConstraints: {resourceRules: [{apiGroups: [''], apiVersions: [v1], operations: [CREATE], resources: [pods]}]}
  validations: [{expression: 'true'}]
  ${spec}
`
const binding = (name: string, policyName = name) => `
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: ${name}}
spec: {policyName: ${policyName}, validationActions: [Deny]}
`

async function start(release = '1.37', path = folder) {
  const clock = fakeClock()
  const errors: unknown[] = []
  const reloaded: string[] = []
  const manifests = await readStaticManifests(configurationOf(path), {
    ...{ clock, profile: stockProfile, features: createFeatures(release) },
    onError: (error) => void errors.push(error),
    onReload: (which) => void reloaded.push(which),
  })
  const objects = manifests.open('ValidatingAdmissionPolicy', path)
  const names = () => objects.list('validatingadmissionpolicies').map(({ metadata }) => metadata.name)
  const poll = async (until: () => boolean) => {
    clock.advance(10_000)
    for (let i = 0; i < 500 && !until(); i++) await new Promise((resolve) => setTimeout(resolve, 10))
  }
  return { manifests, objects, names, errors, reloaded, poll }
}

describe('objects of folders', () => {
  it('have defaults, and are sorted by name', async () => {
    write('b.yaml', `${policy('b.static.k8s.io')}---${binding('b.static.k8s.io')}`)
    write('a.YML', policy('a.static.k8s.io'))
    write('ignored.txt', 'nothing')
    const { manifests, objects, names } = await start()
    using _ = manifests
    expect(names()).toEqual(['a.static.k8s.io', 'b.static.k8s.io'])
    expect(objects.list('validatingadmissionpolicies')[0]).toMatchObject({ spec: { failurePolicy: 'Fail' } })
    expect(objects.list('validatingadmissionpolicybindings').length).toBe(1)
  })

  it('follow the files; files that cannot be used change nothing', async () => {
    write('a.yaml', policy('a.static.k8s.io'))
    const { manifests, names, errors, reloaded, poll } = await start()
    using _ = manifests
    write('b.yaml', policy('b.example.com'))
    await poll(() => errors.length > 0)
    expect([names(), String(errors[0])]).toEqual([['a.static.k8s.io'], expect.stringContaining('must have a name ending with')])
    write('b.yaml', policy('b.static.k8s.io'))
    await poll(() => reloaded.length > 0)
    expect([names(), reloaded]).toEqual([['a.static.k8s.io', 'b.static.k8s.io'], [folder]])
    rmSync(join(folder, 'a.yaml'))
    await poll(() => reloaded.length > 1)
    expect(names()).toEqual(['b.static.k8s.io'])
  })

  it.each([
    ['an unknown member', policy('a.static.k8s.io', 'extra: 1'), 'unknown field'],
    ['an invalid object', binding('a.static.k8s.io').replace('Deny', 'Never'), 'Unsupported value'],
    [
      'another kind',
      'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a.static.k8s.io}\n',
      'unsupported resource type v1 ConfigMap',
    ],
    ['a syntax error', 'a: [', 'error loading'],
  ])('are refused at the start for %s', async (_, text, problem) => {
    write('a.yaml', text)
    await expect(start()).rejects.toMatchObject({ code: 'InvalidFlag', message: expect.stringContaining(problem) })
  })

  it('need the gate and an existing folder', async () => {
    await expect(start('1.36')).rejects.toMatchObject({ message: expect.stringContaining('ManifestBasedAdmissionControlConfig') })
    await expect(start('1.37', 'relative')).rejects.toMatchObject({ message: expect.stringContaining('absolute file path') })
    await expect(start('1.37', join(folder, 'none'))).rejects.toMatchObject({ message: expect.stringContaining('ENOENT') })
  })
})
