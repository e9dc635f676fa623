/** ValidatingWebhookConfiguration and MutatingWebhookConfiguration. */

import type { Work } from '@krmkit/base/work'
import { type DeepReadonly, Path } from '@krmkit/meta'
import { gateEnabled } from '@krmkit/meta/feature-gates'
import { goStrings } from '@krmkit/meta/go-text'
import { validateDns1035Label, validateFullyQualifiedName } from '@krmkit/meta/names'
import { validateLabelSelector } from '@krmkit/meta/selectors'
import type { Strategy, StrategyContext } from '../../../interfaces.ts'
import type {
  MutatingWebhook,
  MutatingWebhookConfiguration,
  ValidatingWebhookConfiguration,
} from '../../../types/admissionregistration-v1.generated.ts'
import { validateEnum } from '../../shared/enums.ts'
import { deepEqual } from '../../shared/equality.direct.ts'
import type { ContextErrorList, FieldPath } from '../../shared/field-path.ts'
import { raiseGenerationExactly, startGeneration, validateMetadata } from '../../shared/metadata.ts'
import { creationRules, defineStrategy, validateWith } from '../../shared/strategy.ts'
import { isSet, type R } from '../../shared/values.ts'
import { validateWebhookService, validateWebhookUrl } from '../../shared/webhook-client.ts'
import { type ExpressionContext, expressionContext, loadCel } from '../admission-expressions.ts'
import { excludedRuleWarnings } from '../excluded-rules.ts'
import { validateMatchConditions } from '../match-conditions.ts'
import { defaultRules, failurePolicies, matchPolicies, validateRule } from '../rules.ts'
import { reservedNameWarnings, validateReservedName } from '../static-names.ts'

type Configuration = MutatingWebhookConfiguration | ValidatingWebhookConfiguration
/** Members of both sorts of webhooks. */
type Hook = R<MutatingWebhook>

const reinvocationPolicies = ['IfNeeded', 'Never']
const sideEffects = ['None', 'NoneOnDryRun']
const olderSideEffects = ['None', 'NoneOnDryRun', 'Some', 'Unknown']
const reviewVersions = ['v1', 'v1beta1']
const maxTimeoutSeconds = 30
const timeoutSeconds = 10
const servicePort = 443

/** Invalid values that an update may keep. */
interface Tolerances {
  readonly sideEffects: boolean
  readonly reviewVersions: boolean
  readonly sameNames: boolean
  readonly selectorValues: boolean
  readonly sameConditions: boolean
}

const none: Tolerances = {
  sideEffects: false,
  reviewVersions: false,
  sameNames: false,
  selectorValues: false,
  sameConditions: false,
}

/** `v1beta1` has neither the stricter side effects nor unique names. */
function requestTolerances({ requestVersion }: StrategyContext): Tolerances {
  return requestVersion?.version === 'v1beta1' ? { ...none, sideEffects: true, sameNames: true } : none
}

function hooksOf(configuration: DeepReadonly<Configuration>): readonly Hook[] {
  return (configuration.webhooks ?? []) as readonly Hook[]
}

function tolerancesOf(
  configuration: DeepReadonly<Configuration>,
  old: DeepReadonly<Configuration>,
  context: StrategyContext,
): Tolerances {
  const asked = requestTolerances(context)
  const before = hooksOf(old)
  const names = before.map(({ name }) => name)
  const hooks = hooksOf(configuration)
  return {
    sideEffects: asked.sideEffects || before.some((hook) => !sideEffects.includes(hook.sideEffects ?? '')),
    reviewVersions: before.some(({ admissionReviewVersions: list }) => {
      return (list ?? []).length > 0 && !list!.some((version) => reviewVersions.includes(version))
    }),
    sameNames: asked.sameNames || new Set(names).size < names.length,
    selectorValues: before.some(hasInvalidSelector),
    sameConditions:
      hooks.length === before.length && hooks.every((hook, i) => deepEqual(hook.matchConditions, before[i]?.matchConditions)),
  }
}

function hasInvalidSelector({ namespaceSelector, objectSelector }: Hook): boolean {
  const path = Path.of('selector')
  return [namespaceSelector, objectSelector].some(
    (selector) => isSet(selector) && validateLabelSelector(selector, path).length > 0,
  )
}

function* validateConfiguration(
  configuration: DeepReadonly<Configuration>,
  errors: ContextErrorList,
  tolerances: Tolerances,
  old?: DeepReadonly<Configuration>,
): Work {
  yield* validateMetadata(configuration, errors, { namespaced: false, bareFinalizers: true })
  const before = old === undefined ? [] : hooksOf(old)
  const stored = new Set(
    before.flatMap(({ matchConditions }) => (matchConditions ?? []).map(({ expression = '' }) => expression)),
  )
  const checks = expressionContext(stored, errors.context)
  const names = new Set<string>()
  for (const [i, hook] of hooksOf(configuration).entries()) {
    const at = errors.child('webhooks').index(i)
    yield* validateHook(hook, at, tolerances, checks)
    validateReviewVersions(hook.admissionReviewVersions ?? [], at.child('admissionReviewVersions'), tolerances)
    const name = hook.name ?? ''
    if (tolerances.sameNames || name === '') continue
    if (names.has(name)) at.child('name').duplicate(name)
    names.add(name)
  }
}

function* validateHook(hook: Hook, at: FieldPath, tolerances: Tolerances, checks: ExpressionContext): Work {
  at.add(validateFullyQualifiedName(at.child('name').path(), hook.name ?? ''))
  for (const [i, rule] of (hook.rules ?? []).entries()) validateRule(rule, at.child('rules').index(i))
  validateEnum(hook.failurePolicy, at.child('failurePolicy'), failurePolicies)
  validateEnum(hook.matchPolicy, at.child('matchPolicy'), matchPolicies)
  const effects = tolerances.sideEffects ? olderSideEffects : sideEffects
  if (!isSet(hook.sideEffects)) at.child('sideEffects').required(`must specify one of ${effects.join(', ')}`)
  validateEnum(hook.sideEffects, at.child('sideEffects'), effects)
  const timeout = hook.timeoutSeconds
  if (isSet(timeout) && (timeout > maxTimeoutSeconds || timeout < 1)) {
    at.child('timeoutSeconds').invalid(timeout, 'the timeout value must be between 1 and 30 seconds')
  }
  for (const name of ['namespaceSelector', 'objectSelector'] as const) {
    const options = { allowInvalidValues: tolerances.selectorValues }
    at.add(validateLabelSelector(hook[name], at.child(name).path(), options))
  }
  validateEnum(hook.reinvocationPolicy, at.child('reinvocationPolicy'), reinvocationPolicies)
  validateClient(hook, at.child('clientConfig'))
  if (!tolerances.sameConditions)
    yield* validateMatchConditions(hook.matchConditions, at.child('matchConditions'), { params: false, checks })
}

function validateClient(hook: Hook, at: FieldPath): void {
  const { url, service } = hook.clientConfig ?? {}
  if (isSet(url) === isSet(service)) at.required('exactly one of url or service is required')
  else if (isSet(url)) validateWebhookUrl(url, at.child('url'))
  else if (isSet(service)) validateWebhookService(service, at.child('service'))
}

function validateReviewVersions(versions: readonly string[], at: FieldPath, tolerances: Tolerances): void {
  const known = reviewVersions.join(', ')
  if (versions.length === 0) {
    at.required(`must specify one of ${known}`)
    return
  }
  const seen = new Set<string>()
  for (const [i, version] of versions.entries()) {
    if (seen.has(version)) at.index(i).invalid(version, 'duplicate version')
    else at.index(i).invalidAll(version, validateDns1035Label(version))
    seen.add(version)
  }
  const usable = versions.some((version) => reviewVersions.includes(version))
  if (!usable && !tolerances.reviewVersions) at.invalidText(goStrings(versions), `must include at least one of ${known}`)
}

function webhookConfigurationStrategy(mutating: boolean): Strategy<Configuration> {
  return {
    allowUnconditionalUpdate: false,
    keepInMemory: true,
    distinctEmpties: [['webhooks']],
    defaults(configuration) {
      for (const hook of (configuration.webhooks ?? []) as MutatingWebhook[]) {
        hook.failurePolicy ??= 'Fail'
        hook.matchPolicy ??= 'Equivalent'
        hook.namespaceSelector ??= {}
        hook.objectSelector ??= {}
        hook.timeoutSeconds ??= timeoutSeconds
        if (mutating) hook.reinvocationPolicy ??= 'Never'
        if (isSet(hook.clientConfig?.service)) hook.clientConfig.service.port ??= servicePort
        defaultRules(hook.rules)
      }
    },
    prepareForCreate: startGeneration,
    prepareForUpdate: (configuration, old) => raiseGenerationExactly(configuration, old, 'webhooks'),
    ready(configuration) {
      return hooksOf(configuration).some(({ matchConditions }) => (matchConditions ?? []).length > 0) ? loadCel() : undefined
    },
    validate: creationRules(function* (errors, configuration, context) {
      yield* validateConfiguration(configuration, errors, requestTolerances(context))
      validateReservedName(configuration, errors)
    }),
    validateUpdate(configuration, old, context) {
      return validateWith(context, (errors) =>
        validateConfiguration(configuration, errors, tolerancesOf(configuration, old, context), old),
      )
    },
    warnings(configuration, old, context) {
      const { features, profile } = context
      return [
        ...reservedNameWarnings(configuration, old, context),
        ...(gateEnabled('ExcludeAdmissionWebhookVirtualResources', features)
          ? excludedRuleWarnings(hooksOf(configuration), profile)
          : []),
      ]
    },
  }
}

export const mutatingWebhookConfigurationStrategy = defineStrategy<Configuration>(webhookConfigurationStrategy(true))
export const validatingWebhookConfigurationStrategy = defineStrategy<Configuration>(webhookConfigurationStrategy(false))
