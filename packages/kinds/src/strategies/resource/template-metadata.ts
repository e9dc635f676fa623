/** Metadata of templates: labels and annotations, and nothing else. */

import type { Work } from '@krmkit/base/work'
import { type DeepReadonly, type ObjectMeta, parseTime } from '@krmkit/meta'
import { goQuote } from '@krmkit/meta/go-text'
import { validateAnnotations, validateLabels } from '@krmkit/meta/paced'
import type { FieldPath } from '../shared/field-path.ts'
import { goPointer, goStringList, goStringMap, goStruct, goStructs } from '../shared/go-form.ts'
import { isEmptyMap, isSet } from '../shared/values.ts'

type Metadata = DeepReadonly<ObjectMeta> | undefined

/** Members that templates may not have, in the order in which they are reported, with their names in messages. */
const others: readonly (readonly [member: keyof ObjectMeta, shown?: string])[] = [
  ['name'],
  ['generateName'],
  ['namespace'],
  ['selfLink'],
  ['uid', 'uID'],
  ['resourceVersion'],
  ['generation'],
  ['creationTimestamp'],
  ['deletionTimestamp'],
  ['deletionGracePeriodSeconds'],
  ['ownerReferences'],
  ['finalizers'],
  ['managedFields'],
]

/** Members whose zero value counts as present. */
const pointers: readonly string[] = [
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
  'ownerReferences',
  'finalizers',
  'managedFields',
]

export function* validateTemplateMetadata(metadata: Metadata, at: FieldPath): Work {
  at.add(yield* validateAnnotations(metadata?.annotations, at.child('annotations').path()))
  at.add(yield* validateLabels(metadata?.labels, at.child('labels').path()))
  if (metadata === undefined) return
  for (const [member, shown = member] of others) {
    const value = metadata[member]
    if (isSet(value) && (pointers.includes(member) || (value !== '' && value !== 0))) at.child(shown).forbidden('cannot be set')
  }
}

const months = 'January February March April May June July August September October November December'.split(' ')

function printTime(time: string | null | undefined): string {
  if (!isSet(time)) return 'time.Date(1, time.January, 1, 0, 0, 0, 0, time.UTC)'
  const date = new Date(parseTime(time))
  const clock = [date.getUTCDate(), date.getUTCHours(), date.getUTCMinutes(), date.getUTCSeconds(), 0].join(', ')
  return `time.Date(${date.getUTCFullYear()}, time.${months[date.getUTCMonth()]}, ${clock}, time.Local)`
}

const printPointer = (time: string | null | undefined): string => (isSet(time) ? printTime(time) : '<nil>')

/** Metadata as Go prints them. */
export function printMetadata(metadata: Metadata): string {
  const { labels, annotations, ownerReferences, finalizers, managedFields } = metadata ?? {}
  const texts = {
    Name: metadata?.name,
    GenerateName: metadata?.generateName,
    Namespace: metadata?.namespace,
    SelfLink: metadata?.selfLink,
    UID: metadata?.uid,
    ResourceVersion: metadata?.resourceVersion,
  }
  return goStruct('v1.ObjectMeta', {
    ...Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, goQuote(text ?? '')])),
    Generation: String(metadata?.generation ?? 0),
    CreationTimestamp: printTime(metadata?.creationTimestamp),
    DeletionTimestamp: printPointer(metadata?.deletionTimestamp),
    DeletionGracePeriodSeconds: goPointer(metadata?.deletionGracePeriodSeconds, 'int64'),
    Labels: goStringMap(isEmptyMap(labels) ? undefined : labels),
    Annotations: goStringMap(isEmptyMap(annotations) ? undefined : annotations),
    OwnerReferences: goStructs('v1.OwnerReference', ownerReferences, (owner) => ({
      APIVersion: goQuote(owner.apiVersion ?? ''),
      Kind: goQuote(owner.kind ?? ''),
      Name: goQuote(owner.name ?? ''),
      UID: goQuote(owner.uid ?? ''),
      Controller: goPointer(owner.controller, 'bool'),
      BlockOwnerDeletion: goPointer(owner.blockOwnerDeletion, 'bool'),
    })),
    Finalizers: goStringList(finalizers),
    ManagedFields: goStructs('v1.ManagedFieldsEntry', managedFields, (entry) => ({
      Manager: goQuote(entry.manager ?? ''),
      Operation: goQuote(entry.operation ?? ''),
      APIVersion: goQuote(entry.apiVersion ?? ''),
      Time: printPointer(entry.time),
      FieldsType: goQuote(entry.fieldsType ?? ''),
      FieldsV1: goPointer(entry.fieldsV1, 'v1.FieldsV1'),
      Subresource: goQuote(entry.subresource ?? ''),
    })),
  })
}
