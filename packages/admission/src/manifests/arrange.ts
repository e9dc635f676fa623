import type { ApiObject, NamingProfile } from '@krmkit/meta'
import { AdmissionError } from '../admission-error.ts'
import type { StaticObjects } from './static-objects.ts'

/** Rules for the objects that a plugin reads from files. */

/** An object of a file, valid and with defaults. */
export interface StaticObject {
  readonly file: string
  readonly object: ApiObject
}

interface Members {
  readonly webhooks?: readonly { readonly name?: string; readonly clientConfig?: { url?: string; service?: object } }[]
  readonly spec?: { readonly paramKind?: object; readonly paramRef?: object; readonly policyName?: string }
}

/** Resources of the objects of a plugin, by kind. */
const resources: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  MutatingAdmissionWebhook: { MutatingWebhookConfiguration: 'mutatingwebhookconfigurations' },
  ValidatingAdmissionWebhook: { ValidatingWebhookConfiguration: 'validatingwebhookconfigurations' },
  MutatingAdmissionPolicy: {
    MutatingAdmissionPolicy: 'mutatingadmissionpolicies',
    MutatingAdmissionPolicyBinding: 'mutatingadmissionpolicybindings',
  },
  ValidatingAdmissionPolicy: {
    ValidatingAdmissionPolicy: 'validatingadmissionpolicies',
    ValidatingAdmissionPolicyBinding: 'validatingadmissionpolicybindings',
  },
}

const none: readonly ApiObject[] = Object.freeze([])

/**
 * Checks the objects of all files of a plugin, and sorts them by name. Names end with `.static.k8s.io` and are unique by kind; webhooks
 * have a `url`; policies have no parameters; bindings name a policy of the files.
 *
 * @throws AdmissionError `InvalidConfiguration`
 * @example
 * import { arrangeStaticObjects } from '@krmkit/admission'
 * import { stockProfile } from '@krmkit/meta'
 * const type = { apiVersion: 'admissionregistration.k8s.io/v1', kind: 'ValidatingWebhookConfiguration' }
 * const object = { ...type, metadata: { name: 'hooks.static.k8s.io' }, webhooks: [] }
 * const found = arrangeStaticObjects('ValidatingAdmissionWebhook', [{ file: 'hooks.yaml', object }], stockProfile)
 * found.list('validatingwebhookconfigurations').length // 1
 */
export function arrangeStaticObjects(
  plugin: string,
  objects: readonly StaticObject[],
  { apiDomain }: NamingProfile,
): StaticObjects {
  const byKind = resources[plugin] ?? {}
  const apiVersion = `admissionregistration.${apiDomain}/v1`
  const suffix = `.static.${apiDomain}`
  const lists = new Map<string, ApiObject[]>()
  const files = new Map<string, string>()
  for (const { file, object } of objects) {
    const fail = (what: string) => invalid(`error loading ${file}: ${what}`)
    const resource = object.apiVersion === apiVersion ? byKind[object.kind] : undefined
    if (resource === undefined) throw fail(`unsupported resource type ${object.apiVersion} ${object.kind}`)
    const { name = '' } = object.metadata
    if (name === '') throw fail(`resource in file ${quote(file)} must have a name`)
    if (!name.endsWith(suffix)) throw fail(`${quote(name)} in file ${quote(file)} must have a name ending with ${quote(suffix)}`)
    const key = `${resource}/${name}`
    const before = files.get(key)
    if (before !== undefined)
      throw fail(`duplicate name ${quote(name)} found in file ${quote(file)} (previously seen in ${quote(before)})`)
    files.set(key, file)
    const problem = problemOf(object, { file, suffix })
    if (problem !== undefined) throw fail(problem)
    const list = lists.get(resource)
    if (list === undefined) lists.set(resource, [object])
    else list.push(object)
  }
  for (const list of lists.values()) list.sort(byName)
  checkReferences(plugin, lists)
  return { list: (resource) => lists.get(resource) ?? none }
}

/** A rule that an object of a file breaks, if any. */
function problemOf(object: ApiObject, { file, suffix }: { file: string; suffix: string }): string | undefined {
  const { webhooks = [], spec = {} } = object as Members
  const { kind } = object
  const name = object.metadata.name ?? ''
  for (const { name: hook = '', clientConfig = {} } of webhooks) {
    const at = `webhook ${quote(hook)} in ${quote(name)} (file ${quote(file)})`
    if (clientConfig.service != null)
      return `${at}: clientConfig.service is not supported for static manifests; use clientConfig.url instead`
    if ((clientConfig.url ?? '') === '') return `${at}: clientConfig.url is required for static manifests`
  }
  if (spec.paramKind != null) return `${kind} ${quote(name)}: spec.paramKind is not supported for static manifests`
  if (!kind.endsWith('Binding')) return undefined
  const { policyName = '' } = spec
  if (policyName === '') return `binding ${quote(name)} must reference a policy (spec.policyName)`
  if (!policyName.endsWith(suffix))
    return `binding ${quote(name)}: spec.policyName ${quote(policyName)} must end with ${quote(suffix)}`
  return spec.paramRef != null ? `binding ${quote(name)}: spec.paramRef is not supported for static manifests` : undefined
}

/** @throws AdmissionError for a binding of a policy that no file holds. */
function checkReferences(plugin: string, lists: ReadonlyMap<string, readonly ApiObject[]>): void {
  const [policies = '', bindings = ''] = Object.values(resources[plugin] ?? {})
  const known = new Set((lists.get(policies) ?? []).map(({ metadata }) => metadata.name))
  for (const binding of lists.get(bindings) ?? []) {
    const policyName = (binding as Members).spec?.policyName ?? ''
    if (known.has(policyName)) continue
    const name = quote(binding.metadata.name ?? '')
    throw invalid(`binding ${name} references policy ${quote(policyName)} which does not exist in the manifest directory`)
  }
}

function byName(a: ApiObject, b: ApiObject): number {
  const [first = '', second = ''] = [a.metadata.name, b.metadata.name]
  return first < second ? -1 : first > second ? 1 : 0
}

function quote(text: string): string {
  return JSON.stringify(text)
}

function invalid(message: string): AdmissionError {
  return new AdmissionError({ code: 'InvalidConfiguration', message })
}
