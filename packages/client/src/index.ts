export type * from './interfaces.ts'
