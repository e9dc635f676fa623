export type * from '@krmkit/protocol'
