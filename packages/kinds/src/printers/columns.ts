import type { ApiObject } from '@krmkit/meta'
import type { Column, Printer } from '../interfaces.ts'
import { since } from './duration.ts'

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
  description: 'Name of the object, unique among the objects of its kind and namespace.',
  priority: 0,
}

export const ageColumn: Column = column('Age', 'string', 'Time since the object was created.')

export const containerColumns: readonly Column[] = [
  wide('Containers', 'string', 'Names of the containers of the pod template.'),
  wide('Images', 'string', 'Images of the containers of the pod template.'),
]

export const selectorColumn: Column = wide('Selector', 'string', 'Labels that select the pods.')

export const paramKindColumn = column('ParamKind', 'string', 'Kind of the parameter objects.')

export const attributesClassColumn = column('VolumeAttributesClass', 'string', 'Class of the modifiable attributes.')

export const volumeModeColumn = wide('VolumeMode', 'string', 'Whether the volume is a file system or a block device.')

/** A printer of a name, the given columns, and the age. */
export function agedPrinter<T extends ApiObject>(columns: readonly Column[], cells: Printer<T>['cells']): Printer<T> {
  return {
    columns: [nameColumn, ...columns, ageColumn],
    cells(object, options) {
      const { name = '', creationTimestamp } = (object as ApiObject).metadata
      return [name, ...cells(object, options), since(creationTimestamp, options.now)]
    },
  }
}
