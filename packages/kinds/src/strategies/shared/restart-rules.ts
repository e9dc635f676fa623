/** Restart policies of single containers, with rules by exit code: members of 1.34 behind the gate `ContainerRestartRules`. */

import type { Features } from '@krmkit/meta'
import { gateEnabled } from '@krmkit/meta/feature-gates'
import type { Container, PodSpec } from '../../types/core-v1.generated.ts'
import type { FieldPath } from './field-path.ts'
import { isSet, type R } from './values.ts'

/** A rule of `restartPolicyRules`. */
export interface RestartRule {
  readonly action?: string
  readonly exitCodes?: { readonly operator?: string; readonly values?: readonly number[] } | null
}

/** A container with the members of 1.34. */
export interface RestartableContainer {
  restartPolicy?: string
  restartPolicyRules?: readonly RestartRule[]
}

const policies = ['Always', 'Never', 'OnFailure']
const operators = ['In', 'NotIn']
const maxRules = 20
const maxValues = 255
const lists = ['initContainers', 'containers', 'ephemeralContainers'] as const

/** The rules of a container. */
export function restartRulesOf(container: R<Container>): readonly RestartRule[] {
  return (container as R<RestartableContainer>).restartPolicyRules ?? []
}

/** Removes the policies of single containers with the gate off, unless the stored pod has one. Sidecars keep theirs. */
export function dropRestartRules(spec: PodSpec, old: R<PodSpec> | undefined, features: Features): void {
  if (!features.release.atLeast('1.34') || gateEnabled('ContainerRestartRules', features) || usesRestartRules(old)) return
  for (const list of lists) {
    for (const container of (spec[list] ?? []) as RestartableContainer[]) {
      if (list !== 'initContainers' || container.restartPolicy !== 'Always') delete container.restartPolicy
      delete container.restartPolicyRules
    }
  }
}

function usesRestartRules(spec: R<PodSpec> | undefined): boolean {
  return lists.some((list) =>
    ((spec?.[list] ?? []) as R<Container>[]).some((container) => {
      const { restartPolicy } = container
      return (
        restartRulesOf(container).length > 0 ||
        (isSet(restartPolicy) && !(list === 'initContainers' && restartPolicy === 'Always'))
      )
    }),
  )
}

/** The restart policy of a regular container. */
export function validateContainerRestart(container: R<Container>, at: FieldPath): void {
  const { features } = at.errors.context
  if (features.release.atLeast('1.34')) validateRestart(container, at)
  else if (isSet(container.restartPolicy)) at.child('restartPolicy').forbidden('may not be set for non-init containers')
}

/** The restart policy of an init container; sidecars have rules only where one container may restart all. */
export function validateInitRestart(container: R<Container>, at: FieldPath): void {
  const { restartPolicy } = container
  const { features } = at.errors.context
  if (!features.release.atLeast('1.34')) {
    if (isSet(restartPolicy) && restartPolicy !== 'Always') at.child('restartPolicy').notSupported(restartPolicy, ['Always'])
    return
  }
  const rules = restartRulesOf(container)
  if (!isSet(restartPolicy)) {
    if (rules.length > 0 && features.release.atLeast('1.35')) requirePolicy(at)
  } else if (restartPolicy === 'Always' && !gateEnabled('RestartAllContainersOnContainerExits', features)) {
    const detail = 'restartPolicyRules are not allowed for init containers with restart policy Always'
    if (rules.length > 0) at.child('restartPolicyRules').forbidden(detail)
  } else validateRestart(container, at)
}

function requirePolicy(at: FieldPath): void {
  at.child('restartPolicy').required('must specify restartPolicy when restart rules are used')
}

function validateRestart(container: R<Container>, at: FieldPath): void {
  const { restartPolicy } = container
  const { features } = at.errors.context
  const rules = restartRulesOf(container)
  if (!isSet(restartPolicy)) {
    if (rules.length === 0) return
    requirePolicy(at)
  } else if (!policies.includes(restartPolicy)) at.child('restartPolicy').notSupported(restartPolicy, policies)
  const here = at.child('restartPolicyRules')
  if (rules.length > maxRules) tooMany(here, rules.length, maxRules)
  const all = gateEnabled('RestartAllContainersOnContainerExits', features)
  const actions = all ? ['Restart', 'RestartAllContainers'] : ['Restart']
  for (const [i, rule] of rules.entries()) validateRule(rule, here.index(i), actions)
}

function validateRule({ action = '', exitCodes }: RestartRule, at: FieldPath, actions: readonly string[]): void {
  if (!actions.includes(action)) at.child('action').notSupported(action, actions)
  const codes = at.child('exitCodes')
  if (!isSet(exitCodes)) {
    codes.required('must be specified')
    return
  }
  const { operator = '', values = [] } = exitCodes
  if (!operators.includes(operator)) codes.child('operator').notSupported(operator, operators)
  if (values.length > maxValues) tooMany(codes.child('values'), values.length, maxValues)
}

/** Before 1.36 a long list is reported as a long text. */
function tooMany(at: FieldPath, count: number, most: number): void {
  if (at.errors.context.features.release.atLeast('1.36')) at.tooMany(count, most)
  else at.tooLong('', most)
}

/** Whether a container that ended with `exitCode` starts again. */
export function shouldRestart(container: R<Container>, spec: R<PodSpec>, { exitCode, features }: ExitOptions): boolean {
  if (isSet(container.restartPolicy)) {
    const action = restartRulesOf(container).find(({ exitCodes }) => matches(exitCodes, exitCode))?.action
    if (action === 'Restart') return true
    if (action === 'RestartAllContainers' && gateEnabled('RestartAllContainersOnContainerExits', features)) return true
    const byContainer = byPolicy(container.restartPolicy, exitCode)
    if (byContainer !== undefined) return byContainer
  }
  return byPolicy(spec.restartPolicy, exitCode) ?? true
}

interface ExitOptions {
  readonly exitCode: number
  readonly features: Features
}

function matches(codes: RestartRule['exitCodes'], exitCode: number): boolean {
  if (!isSet(codes)) return false
  const listed = (codes.values ?? []).includes(exitCode)
  return codes.operator === 'In' ? listed : codes.operator === 'NotIn' && !listed
}

function byPolicy(policy: string | undefined, exitCode: number): boolean | undefined {
  if (policy === 'Always') return true
  if (policy === 'OnFailure') return exitCode !== 0
  return policy === 'Never' ? false : undefined
}

/** Whether one container may restart all. */
export function allCouldRestart(spec: R<PodSpec>, features: Features): boolean {
  if (!gateEnabled('RestartAllContainersOnContainerExits', features)) return false
  const containers = [...(spec.initContainers ?? []), ...(spec.containers ?? [])]
  return containers.some((container) => restartRulesOf(container).some(({ action }) => action === 'RestartAllContainers'))
}
