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
} from './facts.ts'
export { type Place as TypePlace, readField } from './packed-facts.ts'
export { createTypeSource, type FactsSource } from './type-source.ts'
