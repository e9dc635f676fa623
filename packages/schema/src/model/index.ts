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
export { createTypeSource, type FactsSource } from './type-source.ts'
