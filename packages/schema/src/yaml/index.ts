export { type ParsedYaml, parseYaml, parseYamlAsJson } from './parse-yaml.ts'
export { encodeYaml, printYaml, yamlChunks } from './print-yaml.ts'
export { type YamlAsJson, yamlToJson } from './yaml-to-json.ts'
