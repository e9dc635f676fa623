import type { Column } from '../interfaces.ts'

/** Shared columns, and helpers to define others. */

/** A column that is always shown. */
export function column(name: string, type: Column['type'], description: string): Column {
  return { name, type, format: '', description, priority: 0 }
}

/** A column that only wide output shows. */
export function wide(name: string, type: Column['type'], description: string): Column {
  return { name, type, format: '', description, priority: 1 }
}

export const nameColumn: Column = {
  name: 'Name',
  type: 'string',
  format: 'name',
  description: 'What the object is called: unique among the objects of its kind and namespace.',
  priority: 0,
}

export const ageColumn: Column = column('Age', 'string', 'Time that has passed since the object was created.')

export const containerColumns: readonly Column[] = [
  wide('Containers', 'string', 'Names of the containers of the pod template.'),
  wide('Images', 'string', 'Images that the containers of the pod template run.'),
]

export const selectorColumn: Column = wide('Selector', 'string', 'Labels by which the pods are found.')

export const paramKindColumn = column('ParamKind', 'string', 'Kind of the objects that hold its parameters.')

export const attributesClassColumn = column(
  'VolumeAttributesClass',
  'string',
  'Class of the attributes that can be changed later.',
)

export const volumeModeColumn = wide('VolumeMode', 'string', 'Whether the volume is a file system or a raw device.')

/** Columns of replication controllers and replica sets. */
export const replicaColumns = [
  nameColumn,
  column('Desired', 'integer', 'Pods there should be.'),
  column('Current', 'integer', 'Pods there are.'),
  column('Ready', 'integer', 'Pods that are ready.'),
  ageColumn,
  ...containerColumns,
  selectorColumn,
]
