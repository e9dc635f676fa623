/** Job. */
import type { NamingProfile } from '@krmkit/meta'
import { gateEnabled } from '@krmkit/meta/feature-gates'
import type { DefaultsContext } from '../../../interfaces.ts'
import type { Job } from '../../../types/batch-v1.generated.ts'
import { dropGatedFields, type GatedFields } from '../../shared/gated-fields.ts'
import { keepMembers, raiseGeneration, startGeneration, validateMetadataUpdate } from '../../shared/metadata.ts'
import { defaultPodTemplate } from '../../shared/pod-defaults.ts'
import { podEmpties } from '../../shared/pod-empties.ts'
import { dropDisabledTemplateFields } from '../../shared/pod-gates.ts'
import { podTemplateWarnings } from '../../shared/pod-warnings.ts'
import { lunsOfPods } from '../../shared/required-luns.ts'
import { creationRules, defineStrategy, statusSubresource, updateRules } from '../../shared/strategy.ts'
import { isSet } from '../../shared/values.ts'
import { warnPodNames } from '../../shared/workloads.ts'
import { defaultFailurePatterns } from './defaults.ts'
import { addJobLabels, controllerUidLabels, takeTemplateLabels } from './labels.ts'
import { warnJobSpec } from './spec-validation.ts'
import { validateJobStatus } from './status-validation.ts'
import { validateJobUpdate } from './update-validation.ts'
import { validateJob, validateLongestName } from './validation.ts'

const backoffLimit = 6
const maxBackoffLimit = 2_147_483_647

function defaultJob(job: Job, _version: string, _profile: NamingProfile, { features }: DefaultsContext = {}): void {
  job.spec ??= { template: {} }
  const { spec } = job
  spec.template ??= {}
  defaultPodTemplate(spec.template, features)
  if (!isSet(spec.parallelism)) {
    spec.completions ??= 1
    spec.parallelism = 1
  }
  spec.backoffLimit ??= isSet(spec.backoffLimitPerIndex) ? maxBackoffLimit : backoffLimit
  takeTemplateLabels(job)
  spec.completionMode ??= 'NonIndexed'
  spec.suspend ??= false
  defaultFailurePatterns(spec)
  if (features === undefined || gateEnabled('JobPodReplacementPolicy', features))
    spec.podReplacementPolicy ??= isSet(spec.podFailurePolicy) ? 'Failed' : 'TerminatingOrFailed'
  if (features?.release.atLeast('1.29') !== false) spec.manualSelector ??= false
}

const table: readonly GatedFields[] = [
  { gate: 'JobManagedBy', paths: ['spec.managedBy'] },
  { gate: 'JobSuccessPolicy', paths: ['spec.successPolicy'] },
  { gate: 'JobBackoffLimitPerIndex', paths: ['spec.backoffLimitPerIndex'] },
  { gate: 'JobBackoffLimitPerIndex', paths: ['spec.maxFailedIndexes'] },
  { gate: 'JobPodReplacementPolicy', paths: ['spec.podReplacementPolicy'] },
]
const updateTable = table.filter(({ gate }) => gate !== 'JobManagedBy')

export const jobStrategy = defineStrategy<Job>({
  distinctEmpties: podEmpties('spec', 'template', 'spec'),
  requiredMembers: { '': lunsOfPods('spec', 'template') },
  defaults: defaultJob,
  *prepareForCreate(job, context) {
    if (job.spec?.manualSelector !== true) yield* addJobLabels(job, context.profile)
    job.status = {}
    startGeneration(job)
    dropGatedFields(job, undefined, { table, features: context.features })
    dropDisabledTemplateFields(job.spec?.template, undefined, context.features)
  },
  *prepareForUpdate(job, old, context) {
    yield* keepMembers(job, old, 'status')
    // managedBy is immutable, so an update keeps what validation compares.
    dropGatedFields(job, old, { table: updateTable, features: context.features })
    dropDisabledTemplateFields(job.spec?.template, old.spec?.template, context.features)
    yield* raiseGeneration(job, old, 'spec')
  },
  // kube-apiserver applies its defaults again when it reads the stored object, whose template has the generated labels.
  // biome-ignore lint/correctness/useYield: a stage is a generator.
  *canonicalize(job) {
    takeTemplateLabels(job)
  },
  validate: creationRules((errors, job) => validateJob(job, errors, { prefixedLabels: true })),
  validateUpdate: updateRules(function* (errors, job, old, context) {
    const labels = old.spec?.template?.metadata?.labels ?? {}
    const prefixedLabels = controllerUidLabels(context.profile).prefixed.every((label) => Object.hasOwn(labels, label))
    // kube-apiserver before 1.37 validates the job twice on update.
    if (!context.features.release.atLeast('1.37')) yield* validateJob(job, errors, { prefixedLabels })
    yield* validateMetadataUpdate(job, old, errors)
    yield* validateJobUpdate(job, old, errors)
    if (context.features.release.atLeast('1.37')) validateLongestName(job, errors)
  }),
  warnings(job, old, { profile, features }) {
    const texts = old === undefined ? warnPodNames(job) : []
    if (old !== undefined && old.metadata.generation === job.metadata.generation) return texts
    warnJobSpec(texts, job.spec, 'spec')
    return [...texts, ...podTemplateWarnings(job, old, { template: job.spec?.template, at: 'spec.template', profile, features })]
  },
  defaultPropagation: 'Orphan',
  defaultPropagationWarning:
    'child pods are preserved by default when jobs are deleted; set propagationPolicy=Background to remove them or set propagationPolicy=Orphan to suppress this warning',
  selectableFields: {
    'status.successful': (job) => String(job.status?.succeeded ?? 0),
  },
  subresources: {
    status: statusSubresource((job, errors, old) => validateJobStatus(job, old, errors.child('status'))),
  },
  resetFields: { '': [['status']], status: [['spec']] },
})
