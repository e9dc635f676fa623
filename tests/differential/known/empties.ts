import { ofCauses } from './of-causes.ts'

/** Objects are validated in their canonical form, in which empty and absent are one; the stock server tells nil from empty Go values. */
export const ofEmpties = ofCauses([
  {
    id: 'D27',
    title: 'Immutable data may become an empty map where it was absent',
    reason: 'Empty and absent are one in the canonical form of an object, so nothing changes; the stock server compares Go maps.',
    path: /\/(configmaps|secrets)(\/|$)/,
    causes: /^(binaryData|data): Forbidden: field is immutable when `immutable` is set$/,
  },
  {
    id: 'D37',
    title: 'The parameters of a storage class may become an empty map where they were absent',
    reason: 'Empty and absent are one in the canonical form of an object, so nothing changes; the stock server compares Go maps.',
    path: /\/(storageclasses|volumeattributesclasses)\//,
    causes: /^parameters: Forbidden: updates to parameters are forbidden\.$/,
    body: /"parameters":(\{\}|null)|"\/parameters/,
  },
  {
    id: 'D38',
    title: 'An empty list of scaling policies gets the default policies',
    reason: 'Empty and absent are one in the canonical form of an object; the stock server refuses an empty list.',
    path: /\/horizontalpodautoscalers(\/|$)/,
    causes: /^spec\.behavior\.scale(Up|Down)\.policies: Required value: must specify at least one Policy$/,
    body: /"policies":\[\]|"remove"/,
  },
  {
    id: 'D39',
    title: 'An empty map of allocatable resources gets the capacity',
    reason: 'Empty and absent are one in the canonical form of an object; the stock server fills in an absent map alone.',
    path: /\/nodes(\/|$)/,
    causes: /^status\.allocatable\./,
    body: /"allocatable":\{\}/,
  },
])
