import type { DeepReadonly } from '@krmkit/meta'
import type { Printer } from '../interfaces.ts'
import type {
  MutatingWebhookConfiguration,
  ParamKind,
  ParamRef,
  ValidatingAdmissionPolicy,
  ValidatingAdmissionPolicyBinding,
  ValidatingWebhookConfiguration,
} from '../types/admissionregistration-v1.generated.ts'
import type { MutatingAdmissionPolicy } from '../types/admissionregistration-v1alpha1.generated.ts'
import type { FlowSchema, PriorityLevelConfiguration } from '../types/flowcontrol-v1.generated.ts'
import { ageColumn, column, nameColumn } from './columns.ts'
import { since } from './duration.ts'
import { readSelector } from './text.ts'

/** What requests meet on their way in. */

/** Configurations of both kinds of webhooks. */
export const webhookConfigurationPrinter: Printer<MutatingWebhookConfiguration | ValidatingWebhookConfiguration> = {
  columns: [nameColumn, column('Webhooks', 'integer', 'Number of webhooks.'), ageColumn],
  cells: ({ metadata, webhooks }, { now }) => [
    metadata.name ?? '',
    webhooks?.length ?? 0,
    since(metadata.creationTimestamp, now),
  ],
}

const paramKindColumn = column('ParamKind', 'string', 'Kind of the objects that hold its parameters.')

export const validatingAdmissionPolicyPrinter: Printer<ValidatingAdmissionPolicy> = {
  columns: [nameColumn, column('Validations', 'integer', 'Number of rules.'), paramKindColumn, ageColumn],
  cells: ({ metadata, spec }, { now }) => [
    metadata.name ?? '',
    spec?.validations?.length ?? 0,
    paramKindText(spec?.paramKind),
    since(metadata.creationTimestamp, now),
  ],
}

export const mutatingAdmissionPolicyPrinter: Printer<MutatingAdmissionPolicy> = {
  columns: [nameColumn, column('Mutations', 'integer', 'Number of changes it makes.'), paramKindColumn, ageColumn],
  cells: ({ metadata, spec }, { now }) => [
    metadata.name ?? '',
    spec?.mutations?.length ?? 0,
    paramKindText(spec?.paramKind),
    since(metadata.creationTimestamp, now),
  ],
}

/** Bindings of both kinds of policies. */
export const admissionPolicyBindingPrinter: Printer<ValidatingAdmissionPolicyBinding> = {
  columns: [
    nameColumn,
    column('PolicyName', 'string', 'Policy that is put into effect.'),
    column('ParamRef', 'string', 'Objects that hold its parameters.'),
    ageColumn,
  ],
  cells: ({ metadata, spec }, { now }) => [
    metadata.name ?? '',
    spec?.policyName ?? '',
    paramRefText(spec?.paramRef),
    since(metadata.creationTimestamp, now),
  ],
}

export const flowSchemaPrinter: Printer<FlowSchema> = {
  columns: [
    nameColumn,
    column('PriorityLevel', 'string', 'Priority level of the requests it matches.'),
    column('MatchingPrecedence', 'string', 'Lower numbers are asked first.'),
    column('DistinguisherMethod', 'string', 'How flows are told apart.'),
    ageColumn,
    column('MissingPL', 'string', 'Whether its priority level is missing.'),
  ],
  cells: ({ metadata, spec, status }, { now }) => [
    metadata.name ?? '',
    spec?.priorityLevelConfiguration?.name ?? '',
    spec?.matchingPrecedence ?? 0,
    spec?.distinguisherMethod?.type ?? '<none>',
    since(metadata.creationTimestamp, now),
    status?.conditions?.find(({ type }) => type === 'Dangling')?.status ?? '?',
  ],
  compare(a, b) {
    const byPrecedence = (a.spec?.matchingPrecedence ?? 0) - (b.spec?.matchingPrecedence ?? 0)
    if (byPrecedence !== 0) return byPrecedence
    return (a.metadata.name ?? '') < (b.metadata.name ?? '') ? -1 : a.metadata.name === b.metadata.name ? 0 : 1
  },
}

export const priorityLevelPrinter: Printer<PriorityLevelConfiguration> = {
  columns: [
    nameColumn,
    column('Type', 'string', 'Whether requests of the level are limited.'),
    column('NominalConcurrencyShares', 'string', 'Share of the server the level gets.'),
    column('Queues', 'string', 'Number of queues.'),
    column('HandSize', 'string', 'Number of queues a flow may use.'),
    column('QueueLengthLimit', 'string', 'Requests that may wait in a queue.'),
    ageColumn,
  ],
  cells({ metadata, spec }, { now }) {
    const queuing = spec?.limited?.limitResponse?.queuing
    return [
      metadata.name ?? '',
      spec?.type ?? '',
      spec?.limited ? (spec.limited.nominalConcurrencyShares ?? 0) : '<none>',
      queuing ? (queuing.queues ?? 0) : '<none>',
      queuing ? (queuing.handSize ?? 0) : '<none>',
      queuing ? (queuing.queueLengthLimit ?? 0) : '<none>',
      since(metadata.creationTimestamp, now),
    ]
  },
}

function paramKindText(paramKind: DeepReadonly<ParamKind> | undefined): string {
  return paramKind === undefined ? '<unset>' : `${paramKind.apiVersion ?? ''}/${paramKind.kind ?? ''}`
}

function paramRefText(ref: DeepReadonly<ParamRef> | undefined): string {
  if (ref?.name) return `${ref.namespace || '*'}/${ref.name}`
  return ref?.selector === undefined ? '<unset>' : (readSelector(ref.selector) ?? '<error>')
}
