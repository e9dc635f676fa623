import type { ApiObject, DeepReadonly, NamingProfile } from '@krmkit/meta'
import type { AdmissionPlugin } from '../interfaces.ts'
import { forbidden } from '../refusals.ts'
import { onResource } from '../targets.ts'

/** Plugins of pod groups, which need the gate `GenericWorkload`. */

interface PodGroup extends ApiObject {
  spec?: {
    podGroupTemplateRef?: { workload?: { workloadName?: string; podGroupTemplateName?: string } | null } | null
    schedulingPolicy?: { gang?: object | null }
  }
}

interface Workload extends ApiObject {
  spec?: { podGroupTemplates?: readonly { readonly name?: string }[] | null }
}

interface Job extends ApiObject {
  spec?: {
    parallelism?: number
    template?: { spec?: { schedulingGroup?: { podGroupName?: string | null } | null } }
  }
}

/**
 * Adds the protection finalizer to new pod groups, which keeps them while pods of the group run. A plugin since 1.36.
 *
 * @example
 * ```ts
 * import { admit, ObjectSet } from '@krmkit/admission'
 * import { podGroupProtection } from '@krmkit/admission/plugins'
 * import { stockProfile } from '@krmkit/meta'
 *
 * const at = { group: 'scheduling.k8s.io', version: 'v1beta1' }
 * const object = { apiVersion: 'scheduling.k8s.io/v1beta1', kind: 'PodGroup', metadata: { name: 'workers', namespace: 'shop' } }
 * const request = { kind: { ...at, kind: 'PodGroup' }, resource: { ...at, resource: 'podgroups' }, object }
 * const result = await admit(request, [podGroupProtection(stockProfile)], new ObjectSet())
 * result.object?.metadata.finalizers // ['scheduling.k8s.io/podgroup-protection']
 * ```
 */
export function podGroupProtection({ apiDomain }: NamingProfile): AdmissionPlugin {
  const group = `scheduling.${apiDomain}`
  const finalizer = `${group}/podgroup-protection`
  return {
    name: 'PodGroupProtection',
    changes: 'members',
    handles: onResource(group, 'podgroups', ['CREATE']),
    admit({ metadata }, _attributes, { explain }) {
      const present = metadata.finalizers ?? []
      if (present.includes(finalizer)) return
      explain?.('the finalizer protects the pod group while its pods run')
      metadata.finalizers = [...present, finalizer]
    },
  }
}

/**
 * Requires that the workload of a new pod group exists and has the template that the group names. A plugin of 1.36.
 *
 * @example
 * ```ts
 * import { admit, ObjectSet } from '@krmkit/admission'
 * import { podGroupWorkloadExists } from '@krmkit/admission/plugins'
 * import { stockProfile } from '@krmkit/meta'
 *
 * const at = { group: 'scheduling.k8s.io', version: 'v1alpha2' }
 * const spec = { podGroupTemplateRef: { workload: { workloadName: 'train', podGroupTemplateName: 'workers' } } }
 * const metadata = { name: 'workers', namespace: 'shop' }
 * const object = { apiVersion: 'scheduling.k8s.io/v1alpha2', kind: 'PodGroup', metadata, spec }
 * const request = { kind: { ...at, kind: 'PodGroup' }, resource: { ...at, resource: 'podgroups' }, object }
 * const { status } = await admit(request, [podGroupWorkloadExists(stockProfile)], new ObjectSet())
 * status?.message // 'podgroups.scheduling.k8s.io "workers" is forbidden: PodGroup rejected: Workload "train" not found'
 * ```
 */
export function podGroupWorkloadExists({ apiDomain }: NamingProfile): AdmissionPlugin {
  const group = `scheduling.${apiDomain}`
  return {
    name: 'PodGroupWorkloadExists',
    handles: onResource(group, 'podgroups', ['CREATE']),
    validate(object, attributes, { reader }) {
      const reference = (object as DeepReadonly<PodGroup>).spec?.podGroupTemplateRef?.workload
      if (reference === undefined || reference === null) return
      const { workloadName = '', podGroupTemplateName = '' } = reference
      const refused = (detail: string) => forbidden(attributes, object, `PodGroup rejected: ${detail}`)
      const workload = reader.get({ group, resource: 'workloads' }, attributes.namespace, workloadName)
      if (workload === undefined) throw refused(`Workload "${workloadName}" not found`)
      if (workload.metadata.deletionTimestamp !== undefined) throw refused(`Workload "${workloadName}" is being deleted`)
      const templates = (workload as DeepReadonly<Workload>).spec?.podGroupTemplates ?? []
      if (!templates.some(({ name }) => name === podGroupTemplateName))
        throw refused(`PodGroupTemplate "${podGroupTemplateName}" not found in Workload "${workloadName}"`)
    },
  }
}

/**
 * Refuses another parallelism of a job whose pods are scheduled as a gang: those of the group that the template names, or of a group that
 * the job controls. A plugin of 1.36.
 *
 * @example
 * ```ts
 * import { admit, ObjectSet } from '@krmkit/admission'
 * import { jobValidation } from '@krmkit/admission/plugins'
 * import { stockProfile } from '@krmkit/meta'
 *
 * const cluster = new ObjectSet()
 * const gang = { metadata: { name: 'g', namespace: 'shop' }, spec: { schedulingPolicy: { gang: { minCount: 2 } } } }
 * const groups = { group: 'scheduling.k8s.io', resource: 'podgroups' }
 * cluster.put(groups, { apiVersion: 'scheduling.k8s.io/v1alpha2', kind: 'PodGroup', ...gang })
 * const template = { spec: { schedulingGroup: { podGroupName: 'g' } } }
 * const job = (parallelism: number) => {
 *   const metadata = { name: 'train', namespace: 'shop' }
 *   return { apiVersion: 'batch/v1', kind: 'Job', metadata, spec: { parallelism, template } }
 * }
 * const at = { group: 'batch', version: 'v1' }
 * const request = { kind: { ...at, kind: 'Job' }, resource: { ...at, resource: 'jobs' }, object: job(3), oldObject: job(2) }
 * const { status } = await admit({ ...request, operation: 'UPDATE' }, [jobValidation(stockProfile)], cluster)
 * status?.code // 403
 * ```
 */
export function jobValidation({ apiDomain }: NamingProfile): AdmissionPlugin {
  const podGroups = { group: `scheduling.${apiDomain}`, resource: 'podgroups' }
  const isGang = (group: DeepReadonly<ApiObject>): boolean => {
    const { gang } = (group as DeepReadonly<PodGroup>).spec?.schedulingPolicy ?? {}
    return gang !== undefined && gang !== null
  }
  return {
    name: 'JobValidation',
    handles: onResource('batch', 'jobs', ['UPDATE']),
    async validate(object, attributes, { reader }) {
      const [job, old] = [object, attributes.oldObject] as readonly (DeepReadonly<Job> | undefined)[]
      if (old === undefined || job?.spec?.parallelism === old.spec?.parallelism) return
      const { namespace = '', uid } = old.metadata
      const named = old.spec?.template?.spec?.schedulingGroup?.podGroupName
      const candidates =
        named === undefined || named === null
          ? (await reader.list(podGroups, namespace)).filter(({ metadata }) =>
              metadata.ownerReferences?.some((owner) => owner.controller === true && owner.uid === uid),
            )
          : [reader.get(podGroups, namespace, named)]
      const gang = candidates.find((group) => group !== undefined && isGang(group))
      if (gang === undefined) return
      const detail = `cannot change parallelism for a Job referencing gang-scheduled PodGroup "${gang.metadata.name}"`
      throw forbidden(attributes, object, detail)
    },
  }
}
