/** Metrics of autoscalers. */
import type { Features } from '@krmkit/meta'
import { validateDns1123Label, validatePathSegmentName } from '@krmkit/meta/names'
import type {
  CrossVersionObjectReference,
  MetricIdentifier,
  MetricSpec,
  MetricTarget,
} from '../../../types/autoscaling-v2.generated.ts'
import type { FieldPath } from '../../shared/field-path.ts'
import { amount, printAmount, sign } from '../../shared/quantities.ts'
import { validateContainerResourceName } from '../../shared/resource-names.ts'
import { isEmpty, isSet, type R } from '../../shared/values.ts'

const types = ['ContainerResource', 'External', 'Object', 'Pods', 'Resource']
const members: Readonly<Record<string, Source>> = {
  Object: 'object',
  Pods: 'pods',
  Resource: 'resource',
  External: 'external',
  ContainerResource: 'containerResource',
}

type Source = 'object' | 'external' | 'pods' | 'resource' | 'containerResource'

/** In validation order; only the first one that is set is validated. */
const sources: readonly Source[] = ['object', 'external', 'pods', 'resource', 'containerResource']

/** A reference to an object of any kind. */
export function validateTargetReference(
  ref: R<CrossVersionObjectReference> | undefined,
  at: FieldPath,
  rule: ApiVersionRule,
): void {
  for (const name of ['kind', 'name'] as const) {
    const value = ref?.[name]
    if (isEmpty(value)) at.child(name).required()
    else at.child(name).invalidAll(value, validatePathSegmentName(value))
  }
  const problem = apiVersionProblem(ref, rule)
  if (problem !== undefined) at.child('apiVersion').invalid(ref?.apiVersion ?? '', problem)
}

/** Whether the `apiVersion` of a reference must name a group, may be of the core group, or is not validated. */
export type ApiVersionRule = 'group' | 'anyGroup' | 'unchecked'

function apiVersionProblem(ref: R<CrossVersionObjectReference> | undefined, rule: ApiVersionRule): string | undefined {
  if (rule === 'unchecked') return undefined
  const text = ref?.apiVersion ?? ''
  const slashes = text === '/' ? 0 : text.split('/').length - 1
  if (slashes > 1) return `unexpected GroupVersion string: ${text}`
  const group = slashes === 1 ? text.slice(0, text.indexOf('/')) : ''
  return rule === 'group' && group === '' ? 'apiVersion must specify API group' : undefined
}

/** The rule for the target of scaling. Since 1.34 the version of a new or changed target is validated. */
export function targetRule(
  ref: R<CrossVersionObjectReference> | undefined,
  old: R<CrossVersionObjectReference> | undefined,
  { release }: Features,
): ApiVersionRule {
  if (!release.atLeast('1.34')) return 'unchecked'
  const same = (name: 'apiVersion' | 'kind') => (ref?.[name] ?? '') === (old?.[name] ?? '')
  if (old !== undefined && same('apiVersion') && same('kind')) return 'unchecked'
  return ref?.kind === 'ReplicationController' ? 'anyGroup' : 'group'
}

/** The rule for objects of metrics. One wrong version in the stored autoscaler lets all be wrong. */
export function metricsRule(old: readonly R<MetricSpec>[] | undefined, { release }: Features): ApiVersionRule {
  if (!release.atLeast('1.34')) return 'unchecked'
  const wrong = (old ?? []).some(
    ({ type, object }) =>
      type === 'Object' && isSet(object) && apiVersionProblem(object.describedObject, 'anyGroup') !== undefined,
  )
  return wrong ? 'unchecked' : 'anyGroup'
}

export function validateMetrics(
  metrics: readonly R<MetricSpec>[] | undefined,
  at: FieldPath,
  { minReplicas, rule }: { readonly minReplicas: number | undefined; readonly rule: ApiVersionRule },
): void {
  for (const [i, metric] of (metrics ?? []).entries()) validateMetric(metric, at.index(i), rule)
  const wakes = (metrics ?? []).some(({ type }) => type === 'Object' || type === 'External')
  if (minReplicas === 0 && !wakes) {
    at.forbidden('must specify at least one Object or External metric to support scaling to zero replicas')
  }
}

function validateMetric(metric: R<MetricSpec>, at: FieldPath, rule: ApiVersionRule): void {
  const type = metric.type ?? ''
  if (type === '') at.child('type').required('must specify a metric source type')
  if (!types.includes(type)) at.child('type').notSupported(type, types)
  const present = sources.filter((name) => isSet(metric[name]))
  const [first] = present
  if (first !== undefined) validateSource(metric, first, { at: at.child(first), rule })
  const wanted = Object.hasOwn(members, type) ? members[type] : undefined
  if (wanted === undefined) at.child('type').notSupported(type, types)
  else if (!present.includes(wanted)) at.child(wanted).required('must populate information for the given metric source')
  if (present.length === 1) return
  for (const name of present) if (name !== wanted) at.child(name).forbidden('must populate the given metric source only')
}

function validateSource(
  metric: R<MetricSpec>,
  name: Source,
  { at, rule }: { readonly at: FieldPath; readonly rule: ApiVersionRule },
): void {
  const { object, external, pods, resource, containerResource } = metric
  if (name === 'object' && isSet(object)) {
    validateTargetReference(object.describedObject, at.child('describedObject'), rule)
    validateIdentifier(object.metric, at.child('metric'))
    const target = validateTarget(object.target, at.child('target'))
    if (!isSet(target.value) && !isSet(target.averageValue)) {
      at.child('target').child('averageValue').required('must set either a target value or averageValue')
    }
  } else if (name === 'external' && isSet(external)) {
    validateIdentifier(external.metric, at.child('metric'))
    const target = validateTarget(external.target, at.child('target'))
    if (!isSet(target.value) && !isSet(target.averageValue)) {
      at.child('target').child('averageValue').required('must set either a target value for metric or a per-pod target')
    }
    if (isSet(target.value) && isSet(target.averageValue)) {
      at.child('target').child('value').forbidden('may not set both a target value for metric and a per-pod target')
    }
  } else if (name === 'pods' && isSet(pods)) {
    validateIdentifier(pods.metric, at.child('metric'))
    const target = validateTarget(pods.target, at.child('target'))
    if (!isSet(target.averageValue))
      at.child('target').child('averageValue').required('must specify a positive target averageValue')
  } else if (name === 'resource' && isSet(resource)) {
    if (isEmpty(resource.name)) at.child('name').required('must specify a resource name')
    validateResourceTarget(resource.target, at.child('target'))
  } else if (isSet(containerResource)) {
    if (isEmpty(containerResource.name)) at.child('name').required('must specify a resource name')
    else validateContainerResourceName(containerResource.name, at.child('name'), { quoted: true })
    const { container } = containerResource
    if (isEmpty(container)) at.child('container').required('must specify a container')
    else at.child('container').invalidAll(container, validateDns1123Label(container))
    validateResourceTarget(containerResource.target, at.child('target'))
  }
}

function validateResourceTarget(given: R<MetricTarget> | undefined, at: FieldPath): void {
  const { averageUtilization, averageValue } = validateTarget(given, at)
  if (!isSet(averageUtilization) && !isSet(averageValue)) {
    at.child('averageUtilization').required('must set either a target raw value or a target utilization')
  }
  if (isSet(averageUtilization) && isSet(averageValue)) {
    at.child('averageValue').forbidden('may not set both a target raw value and a target utilization')
  }
}

const targetTypes = ['Utilization', 'Value', 'AverageValue']

/** @returns the target, for rules of the metric source. */
function validateTarget(target: R<MetricTarget> | undefined, at: FieldPath): R<MetricTarget> {
  const { type = '', value, averageValue, averageUtilization } = target ?? {}
  if (type === '') at.child('type').required('must specify a metric target type')
  if (!targetTypes.includes(type)) at.child('type').invalid(type, 'must be either Utilization, Value, or AverageValue')
  if (isSet(value) && sign(amount(value)) <= 0) at.child('value').invalidText(printAmount(value), 'must be positive')
  if (isSet(averageValue) && sign(amount(averageValue)) <= 0) {
    at.child('averageValue').invalidText(printAmount(averageValue), 'must be positive')
  }
  if (isSet(averageUtilization) && averageUtilization < 1) {
    at.child('averageUtilization').invalid(averageUtilization, 'must be greater than 0')
  }
  return target ?? { type }
}

function validateIdentifier(metric: R<MetricIdentifier> | undefined, at: FieldPath): void {
  const name = metric?.name
  if (isEmpty(name)) at.child('name').required('must specify a metric name')
  else at.child('name').invalidAll(name, validatePathSegmentName(name))
}
