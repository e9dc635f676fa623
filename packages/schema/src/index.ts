export { SchemaError, type SchemaErrorCode } from './errors.ts'
export type * from './interfaces.ts'
export type {
  FieldFacts,
  GroupFacts,
  KindFacts,
  NamedFacts,
  NodeFacts,
  ProtoFacts,
  ResourceFacts,
  TypeFacts,
  VersionFacts,
} from './model/facts.ts'
export { createTypeSource, type FactsSource } from './model/type-source.ts'
