/** Pod. */
import { type DeepReadonly, formatTime } from '@krmkit/meta'
import { validateDns1123Label } from '@krmkit/meta/names'
import type { Pod, PodSpec, PodStatus, ResourceRequirements } from '../../../types/core-v1.generated.ts'
import { goList } from '../../shared/go-form.ts'
import { keepMembers } from '../../shared/metadata.ts'
import { defaultPodOnly, defaultPodSpec } from '../../shared/pod-defaults.ts'
import { podEmpties } from '../../shared/pod-empties.ts'
import { dropDisabledPodFields } from '../../shared/pod-gates.ts'
import { podQos } from '../../shared/pod-qos.ts'
import { completePodResources, completesLater } from '../../shared/pod-resources.ts'
import { emptyPodSpec } from '../../shared/pod-template.ts'
import { podWarnings } from '../../shared/pod-warnings.ts'
import { lunsOfPods } from '../../shared/required-luns.ts'
import { creationRules, defineStrategy, updateRules } from '../../shared/strategy.ts'
import { loadStructDiff } from '../../shared/struct-diff.ts'
import { isEmpty, isEmptyMap, isSet } from '../../shared/values.ts'
import { syncAppArmor } from './app-armor.ts'
import { bindingStrategy } from './binding.ts'
import { raisePodGeneration, startPodGeneration } from './generation.ts'
import { applyMatchLabelKeys } from './match-label-keys.ts'
import { validateProfileAnnotations } from './profile-annotations.ts'
import { resizeStrategy } from './resize.ts'
import { defaultPodStatus, podStatusStrategy } from './status.ts'
import { ephemeralContainersStrategy } from './subresources.ts'
import { validatePodUpdate } from './update-validation.ts'
import { validatePod } from './validation.ts'

const spec = (pod: DeepReadonly<Pod>): DeepReadonly<PodSpec> => pod.spec ?? emptyPodSpec
const status = (pod: DeepReadonly<Pod>): DeepReadonly<PodStatus> => pod.status ?? {}

/** Records pending scheduling gates in the status. */
function recordSchedulingGates(pod: Pod, now: number): void {
  if (isEmpty(pod.spec?.schedulingGates)) return
  const message = 'Scheduling is blocked due to non-empty scheduling gates'
  pod.status = {
    ...pod.status,
    conditions: [
      {
        type: 'PodScheduled',
        status: 'False',
        lastProbeTime: null,
        lastTransitionTime: formatTime(now),
        reason: 'SchedulingGated',
        message,
      },
    ],
  } as PodStatus
}

/** Warns of a name that is no DNS label, as it becomes the host name. */
function hostnameWarnings({ metadata: { name = '' } }: DeepReadonly<Pod>): string[] {
  const messages = validateDns1123Label(name)
  if (messages.length === 0) return []
  return [
    `metadata.name: this is used in the Pod's hostname, which can result in surprising behavior; a DNS label is recommended: ${goList(messages)}`,
  ]
}

export const podStrategy = defineStrategy<Pod>({
  loadDifferences: loadStructDiff,
  distinctEmpties: [['spec', 'overhead'], ...podEmpties('spec')],
  requiredMembers: { '': lunsOfPods() },
  defaults(pod, _version, _profile, { features } = {}) {
    pod.spec ??= { containers: [] }
    defaultPodSpec(pod.spec, features)
    defaultPodOnly(pod.spec, features)
    defaultPodStatus(pod)
  },
  prepareForCreate(pod, context) {
    startPodGeneration(pod, context)
    if (isSet(pod.spec)) completePodResources(pod.spec, context.features)
    // kube-apiserver keeps the class that a client gives.
    const qosClass = pod.status?.qosClass || podQos(spec(pod), context.features)
    pod.status = { phase: 'Pending', qosClass }
    if (isSet(pod.spec)) dropDisabledPodFields(pod.spec, undefined, context.features)
    recordSchedulingGates(pod, context.clock.now())
    applyMatchLabelKeys(pod, context.features)
    syncAppArmor(pod, context)
  },
  *prepareForUpdate(pod, old, context) {
    yield* keepMembers(pod, old, 'status')
    // Clients that know no resources of pods leave them out.
    if (isSet(pod.spec) && !isSet(pod.spec.resources) && isSet(old.spec?.resources) && completesLater(context.features))
      pod.spec.resources = structuredClone(old.spec.resources) as ResourceRequirements
    if (isSet(pod.spec)) dropDisabledPodFields(pod.spec, old.spec, context.features)
    // Only admission of a new pod distinguishes it from an absent one.
    if (isEmptyMap(pod.spec?.overhead)) delete pod.spec?.overhead
    yield* raisePodGeneration(pod, old, context)
  },
  validate: creationRules(function* (errors, pod, context) {
    yield* validatePod(pod, errors)
    const at = errors.child('spec')
    if (!isEmpty(spec(pod).ephemeralContainers)) at.child('ephemeralContainers').forbidden('cannot be set on create')
    if (!isEmpty(spec(pod).nodeName) && !isEmpty(spec(pod).schedulingGates)) {
      at.child('nodeName').forbidden('cannot be set until all schedulingGates have been cleared')
    }
    validateProfileAnnotations(pod, at, context.profile)
  }),
  validateUpdate: updateRules((errors, pod, old) => validatePodUpdate(pod, old, errors)),
  warnings(pod, old, context) {
    return old === undefined ? [...hostnameWarnings(pod), ...podWarnings(pod, context)] : []
  },
  deleteResponse: 'Object',
  gracePeriodSeconds(pod, requested) {
    const { phase } = status(pod)
    if (isEmpty(spec(pod).nodeName) || phase === 'Failed' || phase === 'Succeeded') return 0
    const seconds = requested ?? Number(spec(pod).terminationGracePeriodSeconds ?? 0)
    return seconds < 0 ? 1 : seconds
  },
  selectableFields: {
    'spec.nodeName': (pod) => spec(pod).nodeName ?? '',
    'spec.restartPolicy': (pod) => spec(pod).restartPolicy ?? '',
    'spec.schedulerName': (pod) => spec(pod).schedulerName ?? '',
    'spec.serviceAccountName': (pod) => spec(pod).serviceAccountName ?? '',
    'spec.hostNetwork': (pod) => String(spec(pod).hostNetwork === true),
    'status.phase': (pod) => status(pod).phase ?? '',
    'status.podIP': (pod) => status(pod).podIPs?.[0]?.ip ?? status(pod).podIP ?? '',
    // kube-apiserver accepts the name, and no pod has a value for it.
    'status.podIPs': () => '',
    'status.nominatedNodeName': (pod) => status(pod).nominatedNodeName ?? '',
  },
  subresources: {
    status: podStatusStrategy,
    ephemeralcontainers: ephemeralContainersStrategy,
    resize: resizeStrategy,
    binding: bindingStrategy,
  },
  resetFields: {
    '': [['status']],
    status: [['spec'], ['metadata', 'deletionTimestamp'], ['metadata', 'ownerReferences']],
    // kube-apiserver resets no ownership in `ephemeralcontainers` and `resize`.
  },
})
