/** VolumeAttachment. @see Configuration and storage specification, 2.7 */

import type { Work } from '@krmkit/base/work'
import type { DeepReadonly } from '@krmkit/meta'
import { goQuote, goText, utf8Length } from '@krmkit/meta/go-text'
import { validateDns1123Subdomain } from '@krmkit/meta/names'
import type { VolumeAttachment, VolumeAttachmentSource, VolumeError } from '../../../types/storage-v1.generated.ts'
import { validatePersistentVolumeSpec } from '../../core/persistent-volume/strategy.ts'
import { semanticEqual } from '../../shared/equality.ts'
import type { ContextErrorList, FieldPath } from '../../shared/field-path.ts'
import { dropGatedFields, type GatedFields } from '../../shared/gated-fields.ts'
import { goPointer, goStruct } from '../../shared/go-form.ts'
import { keepMembers, resetStatusMetadata, validateMetadata } from '../../shared/metadata.ts'
import { between, maxInt32 } from '../../shared/numbers.ts'
import { defaultVendorSource } from '../../shared/pod-defaults.ts'
import { lunOfSource } from '../../shared/required-luns.ts'
import { roundUp } from '../../shared/round-up.direct.ts'
import { creationRules, defineStrategy, updateRules } from '../../shared/strategy.ts'
import { isEmpty, isSet, type R } from '../../shared/values.ts'
import { validateDriverName } from '../../shared/volume-network.ts'

const maxMetadataBytes = 256 * 1024
const maxMessageBytes = 1024

type Attachment = DeepReadonly<VolumeAttachment>

function* validateAttachment(attachment: Attachment, errors: ContextErrorList): Work {
  yield* validateMetadata(attachment, errors, { namespaced: false })
  const at = errors.child('spec')
  const { attacher, source, nodeName = '' } = attachment.spec ?? {}
  const { release } = errors.context.features
  // Since 1.36 updates have the rules of new attachments.
  if (release.atLeast('1.36')) validateDriverName(attacher ?? '', at.child('attacher'))
  else if (isEmpty(attacher)) at.child('attacher').required()
  yield* validateSource(source ?? {}, at.child('source'))
  at.child('nodeName').invalidAll(nodeName, validateDns1123Subdomain(nodeName))
  validateStatus(attachment, errors.child('status'))
  if (release.atLeast('1.36')) validateVolumeName(attachment, errors)
}

function* validateSource({ persistentVolumeName, inlineVolumeSpec }: R<VolumeAttachmentSource>, at: FieldPath): Work {
  const one = 'must specify exactly one of inlineVolumeSpec and persistentVolumeName'
  if (!isSet(inlineVolumeSpec) && !isSet(persistentVolumeName)) at.required(one)
  else if (isSet(inlineVolumeSpec) && isSet(persistentVolumeName)) at.forbidden(one)
  else if (isSet(inlineVolumeSpec))
    yield* validatePersistentVolumeSpec(inlineVolumeSpec, at.child('inlineVolumeSpec'), { inline: true })
  else if (persistentVolumeName === '') at.child('persistentVolumeName').required('must specify non empty persistentVolumeName')
}

function validateStatus({ status }: Attachment, at: FieldPath): void {
  const { attachmentMetadata, attachError, detachError } = status ?? {}
  let size = 0
  for (const [key, value] of Object.entries(attachmentMetadata ?? {})) size += utf8Length(key) + utf8Length(value)
  if (size > maxMetadataBytes) at.child('attachmentMetadata').tooLong('', maxMetadataBytes)
  validateError(attachError, at.child('attachError'))
  validateError(detachError, at.child('detachError'))
}

function validateError(error: R<VolumeError> | undefined, at: FieldPath): void {
  if (!isSet(error)) return
  // Before 1.37 kube-apiserver prints a larger bound than the one it compares with.
  const printed = at.errors.context.features.release.atLeast('1.37') ? maxMessageBytes : maxMetadataBytes
  if (utf8Length(error.message ?? '') > maxMessageBytes) at.child('message').tooLong('', printed)
  if (isSet(error.errorCode) && error.errorCode < 0) at.child('errorCode').invalid(error.errorCode, between(0, maxInt32))
}

/** Rules of new attachments only, before 1.36. */
function validateNewAttachment(attachment: Attachment, errors: ContextErrorList): void {
  if (errors.context.features.release.atLeast('1.36')) return
  validateDriverName(attachment.spec?.attacher ?? '', errors.child('spec').child('attacher'))
  validateVolumeName(attachment, errors)
}

function validateVolumeName({ spec }: Attachment, errors: ContextErrorList): void {
  const name = spec?.source?.persistentVolumeName
  if (isSet(name))
    errors.child('spec').child('source').child('persistentVolumeName').invalidAll(name, validateDns1123Subdomain(name))
}

/** kube-apiserver before 1.35 validates the whole attachment twice on update. */
function* validateAttachmentUpdate(attachment: Attachment, old: Attachment, errors: ContextErrorList): Work {
  if (!errors.context.features.release.atLeast('1.35')) yield* validateAttachment(attachment, errors)
  yield* validateAttachment(attachment, errors)
  if (!(yield* semanticEqual(attachment.spec, old.spec)))
    errors.child('spec').invalid(printSpec(attachment), 'field is immutable')
}

function printSpec({ spec }: Attachment) {
  return goText(
    goStruct('storage.VolumeAttachmentSpec', {
      Attacher: goQuote(spec?.attacher ?? ''),
      Source: goStruct('storage.VolumeAttachmentSource', {
        PersistentVolumeName: goPointer(spec?.source?.persistentVolumeName, 'string'),
        InlineVolumeSpec: goPointer(spec?.source?.inlineVolumeSpec, 'core.PersistentVolumeSpec'),
      }),
      NodeName: goQuote(spec?.nodeName ?? ''),
    }),
  )
}

const table: readonly GatedFields[] = ['attachError', 'detachError'].map((error) => {
  return { gate: 'MutableCSINodeAllocatableCount', paths: [`status.${error}.errorCode`] }
})

export const volumeAttachmentStrategy = defineStrategy<VolumeAttachment>({
  allowUnconditionalUpdate: false,
  // `Differs:` kube-apiserver reads a missing member as false; S88.
  requiredMembers: {
    '': [['spec', '?', 'source', '?', 'inlineVolumeSpec', '?', ...lunOfSource]],
    status: [['status', 'attached']],
  },
  defaults(attachment) {
    const inline = attachment.spec?.source?.inlineVolumeSpec
    if (!isSet(inline)) return
    defaultVendorSource(inline)
    roundUp(inline.capacity)
  },
  prepareForCreate(attachment) {
    attachment.status = { attached: false }
  },
  prepareForUpdate: (attachment, old) => keepMembers(attachment, old, 'status'),
  validate: creationRules(function* (errors, attachment) {
    yield* validateAttachment(attachment, errors)
    validateNewAttachment(attachment, errors)
  }),
  validateUpdate: updateRules((errors, attachment, old) => validateAttachmentUpdate(attachment, old, errors)),
  deleteResponse: 'Object',
  subresources: {
    status: {
      *prepareForUpdate(attachment, old, { features }) {
        dropGatedFields(attachment, old, { table, features })
        yield* keepMembers(attachment, old, 'spec')
        yield* resetStatusMetadata(attachment, old)
      },
      validateUpdate: updateRules((errors, attachment, old) => validateAttachmentUpdate(attachment, old, errors)),
    },
  },
  resetFields: { '': [['status']], status: [['metadata'], ['spec']] },
})
