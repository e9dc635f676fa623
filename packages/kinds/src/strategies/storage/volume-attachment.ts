/** Attachments of volumes to nodes. @see Configuration and storage specification, 2.7 */
import { type DeepReadonly, goQuote, goText, utf8Length, validateDns1123Subdomain } from '@krmkit/meta'
import type { VolumeAttachment, VolumeAttachmentSource, VolumeError } from '../../types/storage-v1.generated.ts'
import { checkPersistentVolumeSpec } from '../core/persistent-volume.ts'
import type { FieldPath, Report } from '../shared/field-path.ts'
import { goStruct } from '../shared/go-form.ts'
import { checkMetadata, keepMembers } from '../shared/metadata.ts'
import { between, maxInt32 } from '../shared/numbers.ts'
import { defaultVendorSource, roundUp } from '../shared/pod-defaults.ts'
import { lunOfSource } from '../shared/required-luns.ts'
import { resetStatusMetadata } from '../shared/status-metadata.ts'
import { defineStrategy, findings } from '../shared/strategy.ts'
import { isEmpty, isSet, type R, semanticEqual } from '../shared/values.ts'
import { checkDriverName } from '../shared/volume-network.ts'

const maxMetadataBytes = 256 * 1024
const maxMessageBytes = 1024

type Attachment = DeepReadonly<VolumeAttachment>

function checkAttachment(attachment: Attachment, report: Report): void {
  checkMetadata(attachment, report, { namespaced: false })
  const at = report.at('spec')
  const { attacher, source, nodeName = '' } = attachment.spec ?? {}
  if (isEmpty(attacher)) at.child('attacher').required()
  checkSource(source ?? {}, at.child('source'))
  at.child('nodeName').invalidAll(nodeName, validateDns1123Subdomain(nodeName))
  checkStatus(attachment, report.at('status'))
}

function checkSource({ persistentVolumeName, inlineVolumeSpec }: R<VolumeAttachmentSource>, at: FieldPath): void {
  const one = 'must specify exactly one of inlineVolumeSpec and persistentVolumeName'
  if (!isSet(inlineVolumeSpec) && !isSet(persistentVolumeName)) at.required(one)
  else if (isSet(inlineVolumeSpec) && isSet(persistentVolumeName)) at.forbidden(one)
  else if (isSet(inlineVolumeSpec)) checkPersistentVolumeSpec(inlineVolumeSpec, at.child('inlineVolumeSpec'), { inline: true })
  else if (persistentVolumeName === '') at.child('persistentVolumeName').required('must specify non empty persistentVolumeName')
}

function checkStatus({ status }: Attachment, at: FieldPath): void {
  const { attachmentMetadata, attachError, detachError } = status ?? {}
  let size = 0
  for (const [key, value] of Object.entries(attachmentMetadata ?? {})) size += utf8Length(key) + utf8Length(value)
  if (size > maxMetadataBytes) at.child('attachmentMetadata').tooLong('', maxMetadataBytes)
  checkError(attachError, at.child('attachError'))
  checkError(detachError, at.child('detachError'))
}

function checkError(error: R<VolumeError> | undefined, at: FieldPath): void {
  if (!isSet(error)) return
  // The bound that the message names is that of the stock server, which compares with a smaller one.
  if (utf8Length(error.message ?? '') > maxMessageBytes) at.child('message').tooLong('', maxMetadataBytes)
  if (isSet(error.errorCode) && error.errorCode < 0) at.child('errorCode').invalid(error.errorCode, between(0, maxInt32))
}

/** What is asked of new attachments only. */
function checkStrictly(attachment: Attachment, report: Report): void {
  const { attacher = '', source } = attachment.spec ?? {}
  checkDriverName(attacher, report.at('spec').child('attacher'))
  const name = source?.persistentVolumeName
  if (isSet(name))
    report.at('spec').child('source').child('persistentVolumeName').invalidAll(name, validateDns1123Subdomain(name))
}

/** As on the stock server, the whole attachment is checked in both of its steps. */
function checkUpdate(attachment: Attachment, old: Attachment, report: Report): void {
  checkAttachment(attachment, report)
  checkAttachment(attachment, report)
  if (!semanticEqual(attachment.spec, old.spec)) report.at('spec').invalid(printSpec(attachment), 'field is immutable')
}

function printSpec({ spec }: Attachment) {
  const pointer = (value: unknown, type: string) => `(*${type})(${isSet(value) ? '0x0' : 'nil'})`
  return goText(
    goStruct('storage.VolumeAttachmentSpec', {
      Attacher: goQuote(spec?.attacher ?? ''),
      Source: goStruct('storage.VolumeAttachmentSource', {
        PersistentVolumeName: pointer(spec?.source?.persistentVolumeName, 'string'),
        InlineVolumeSpec: pointer(spec?.source?.inlineVolumeSpec, 'core.PersistentVolumeSpec'),
      }),
      NodeName: goQuote(spec?.nodeName ?? ''),
    }),
  )
}

export const volumeAttachmentStrategy = defineStrategy<VolumeAttachment>({
  allowUnconditionalUpdate: false,
  // `Differs:` the stock server takes a missing member for false; S88.
  requiredMembers: {
    '': [['spec', '?', 'source', '?', 'inlineVolumeSpec', '?', ...lunOfSource]],
    status: [['status', 'attached']],
  },
  defaults(attachment) {
    const inline = attachment.spec?.source?.inlineVolumeSpec
    if (!isSet(inline)) return
    inline.volumeMode ??= 'Filesystem'
    defaultVendorSource(inline)
    roundUp(inline.capacity)
  },
  prepareForCreate(attachment) {
    attachment.status = { attached: false }
  },
  prepareForUpdate(attachment, old) {
    keepMembers(attachment, old, 'status')
  },
  validate(attachment, context) {
    return findings(context, (report) => {
      checkAttachment(attachment, report)
      checkStrictly(attachment, report)
    })
  },
  validateUpdate(attachment, old, context) {
    return findings(context, (report) => checkUpdate(attachment, old, report))
  },
  deleteAnswer: 'Object',
  subresources: {
    status: {
      prepareForUpdate(attachment, old) {
        keepMembers(attachment, old, 'spec')
        resetStatusMetadata(attachment, old)
      },
      validateUpdate(attachment, old, context) {
        return findings(context, (report) => checkUpdate(attachment, old, report))
      },
    },
  },
  resetFields: { '': [['status']], status: [['metadata'], ['spec']] },
})
