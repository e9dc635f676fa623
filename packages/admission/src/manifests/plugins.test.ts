import { alwaysDenyAuthorizer } from '@krmkit/authorization'
import { type ApiObject, createFeatures, seededRandom, stockProfile } from '@krmkit/meta'
import { describe, expect, it } from 'vitest'
import { createAdmissionPlugins } from '../create-plugins.ts'
import type { AdmissionPlugin } from '../interfaces.ts'
import { mutatingPolicies } from '../policy/mutating-policies.ts'
import { validatingPolicies } from '../policy/validating-policies.ts'
import { policyCluster } from '../testing/policies.ts'
import { attributesOf } from '../testing/request.ts'
import { refusalOf, runAdmission } from '../testing/run-admission.ts'
import { deny, testWebhooks, urlOf } from '../testing/webhooks.ts'
import { validatingWebhooks } from '../webhook/validating.ts'
import { arrangeStaticObjects } from './arrange.ts'
import type { StaticObjects } from './static-objects.ts'

/** Plugins with objects of files. */

const group = 'admissionregistration.k8s.io'
const apiVersion = `${group}/v1`
const everything = [{ operations: ['*'], apiGroups: ['*'], apiVersions: ['*'], resources: ['*/*'] }]
const configurations = attributesOf('', { resource: { group, version: 'v1', resource: 'validatingwebhookconfigurations' } })
const object: ApiObject = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a', namespace: 'shop' } }

/** Objects that a test can replace. */
function replaceable(first: StaticObjects) {
  let current = first
  const objects: StaticObjects = { list: (resource) => current.list(resource) }
  return {
    objects,
    replace(next: StaticObjects) {
      current = next
    },
  }
}

describe('webhooks of files', () => {
  const plugin = 'ValidatingAdmissionWebhook'
  const hooksOf = (...names: string[]) => {
    const webhooks = names.map((name) => {
      const base = { name, clientConfig: { url: urlOf(name) }, rules: everything }
      return { ...base, sideEffects: 'None', admissionReviewVersions: ['v1'] }
    })
    const configuration = { apiVersion, kind: 'ValidatingWebhookConfiguration', metadata: { name: 'z.static.k8s.io' }, webhooks }
    return arrangeStaticObjects(plugin, [{ file: 'a.yaml', object: configuration }], stockProfile)
  }
  const setup = (names: string[]) => {
    const { objects: manifests, replace } = replaceable(hooksOf(...names))
    const stored = { a: [{ name: 'api' }, { name: 'file' }, { name: 'other', response: deny('no') }] }
    const cluster = testWebhooks('validatingwebhookconfigurations', stored, { options: { manifests } })
    return { ...cluster, replace, hooks: validatingWebhooks(cluster.options) }
  }

  it('are called besides those of the API, in their order before them', async () => {
    const { hooks, called, context } = setup(['file'])
    const creation = attributesOf('configmaps', { namespace: 'shop' })
    await expect(hooks.validate?.(object, creation, context)).rejects.toThrow('denied the request: no')
    expect(called).toEqual(['file', 'api', 'file', 'other'])
  })

  it('alone are called for webhook and policy configurations', async () => {
    const { hooks, called, context, replace } = setup(['file'])
    expect(hooks.handles(configurations)).toBe(true)
    await hooks.validate?.(object, configurations, context)
    expect(called).toEqual(['file'])
    replace(hooksOf('api', 'file'))
    await hooks.validate?.(object, configurations, context)
    expect(called).toEqual(['file', 'api', 'file'])
    const { options } = testWebhooks('validatingwebhookconfigurations', {})
    expect(validatingWebhooks(options).handles(configurations)).toBe(false)
  })
})

describe('policies of files', () => {
  const matchConstraints = { resourceRules: everything, matchPolicy: 'Equivalent' }
  const objectsOf = (kind: string, spec: object) => {
    const metadata = { name: 'f.static.k8s.io' }
    const objects = [
      { apiVersion, kind, metadata, spec: { failurePolicy: 'Fail', matchConstraints, ...spec } },
      { apiVersion, kind: `${kind}Binding`, metadata, spec: { policyName: metadata.name, validationActions: ['Deny'] } },
    ]
    return arrangeStaticObjects(
      kind,
      objects.map((each) => ({ file: 'a.yaml', object: each })),
      stockProfile,
    )
  }
  const deniedBy = (message: string) =>
    objectsOf('ValidatingAdmissionPolicy', { validations: [{ expression: 'false', message }] })
  const environment = { profile: stockProfile, authorizer: alwaysDenyAuthorizer }
  const refusal = async (plugin: AdmissionPlugin, resource: string) => {
    const cluster = policyCluster({ spec: { validations: [{ expression: 'false', message: 'api' }] } })
    const result = await runAdmission(plugin, resource, { object: { spec: {} } }, cluster)
    return result.allowed ? '' : refusalOf(result)
  }

  it('are evaluated before those of the API, and follow the files', async () => {
    const { objects: manifests, replace } = replaceable(deniedBy('first'))
    const plugin = validatingPolicies({ ...environment, manifests })
    expect(await refusal(plugin, 'apps/deployments')).toContain("'f.static.k8s.io' denied request: first")
    replace(deniedBy('second'))
    expect(await refusal(plugin, 'apps/deployments')).toContain('denied request: second')
    replace({ list: () => [] })
    expect(await refusal(plugin, 'apps/deployments')).toContain('denied request: api')
  })

  it('alone apply to policies; no policy applies to reviews', async () => {
    const plugin = validatingPolicies({ ...environment, manifests: deniedBy('file') })
    expect(await refusal(plugin, `${group}/validatingadmissionpolicies`)).toContain('denied request: file')
    expect(await refusal(plugin, 'authentication.k8s.io/tokenreviews')).toBe('')
    expect(await refusal(validatingPolicies(environment), `${group}/validatingadmissionpolicies`)).toBe('')
  })

  it('mutate objects', async () => {
    const expression = "Object{metadata: Object.metadata{labels: {'team': 'shop'}}}"
    const mutations = [{ patchType: 'ApplyConfiguration', applyConfiguration: { expression } }]
    const manifests = objectsOf('MutatingAdmissionPolicy', { mutations, reinvocationPolicy: 'Never' })
    const plugin = mutatingPolicies({ ...environment, manifests })
    const result = await runAdmission([plugin], 'configmaps', { object: {} }, policyCluster({}))
    expect(result.object?.metadata.labels).toEqual({ team: 'shop' })
  })
})

describe('the configuration of a plugin', () => {
  const configured = (plugin: string, kind: string, release = '1.37') => {
    const opened: string[] = []
    const configuration = { apiVersion: 'apiserver.config.k8s.io/v1', kind, staticManifestsDir: '/etc/objects' }
    const openStaticObjects = (name: string, folder: string) => {
      opened.push(`${name} ${folder}`)
      return { list: () => [] }
    }
    const environment = { random: seededRandom(1), features: createFeatures(release), openStaticObjects }
    createAdmissionPlugins(environment, { configuration: new Map([[plugin, configuration]]) })
    return opened
  }

  it.each([
    ['ValidatingAdmissionWebhook', 'WebhookAdmissionConfiguration'],
    ['MutatingAdmissionWebhook', 'WebhookAdmissionConfiguration'],
    ['ValidatingAdmissionPolicy', 'ValidatingAdmissionPolicyConfiguration'],
    ['MutatingAdmissionPolicy', 'MutatingAdmissionPolicyConfiguration'],
  ])('of %s names the folder of its objects', (plugin, kind) => {
    expect(configured(plugin, kind)).toEqual([`${plugin} /etc/objects`])
    expect(() => configured(plugin, kind, '1.36')).toThrow('requires the feature gate ManifestBasedAdmissionControlConfig')
    expect(configured(plugin, kind, '1.35')).toEqual([])
    expect(() => configured(plugin, 'Other')).toThrow()
  })
})
