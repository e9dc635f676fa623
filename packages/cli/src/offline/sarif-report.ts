import { isAbsolute, relative, sep } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { ReportedFinding } from './reported-finding.ts'

/** Findings in SARIF 2.1.0, which code hosts and editors display. */

const schema = 'https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json'

/** Findings of runs that could not read or validate everything. */
const unread: readonly string[] = ['internal', 'unreadable-file', 'unreadable-definition']

export interface SarifOptions {
  /** Version of krmkit. */
  readonly version: string
  /** Descriptions of the rules. */
  readonly rules: Readonly<Record<string, string>>
}

export function sarifReport(findings: readonly ReportedFinding[], { version, rules }: SarifOptions): object {
  const used = [...new Set(findings.map(({ rule }) => rule))].sort()
  return {
    $schema: schema,
    version: '2.1.0',
    runs: [
      {
        tool: { driver: { name: 'krmkit', semanticVersion: version, rules: used.map((id) => descriptor(id, rules[id] ?? id)) } },
        columnKind: 'utf16CodeUnits',
        invocations: [
          {
            executionSuccessful: findings.every(({ rule }) => !unread.includes(rule)),
          },
        ],
        results: findings.map((finding) => result(finding, used)),
      },
    ],
  }
}

function descriptor(id: string, description: string): object {
  return { id, name: pascalCase(id), shortDescription: { text: description } }
}

function pascalCase(id: string): string {
  return id.replace(/(?:^|-)([a-z])/g, (_, letter: string) => letter.toUpperCase())
}

function result({ rule, severity, message, path, file, range, object }: ReportedFinding, used: readonly string[]): object {
  const name =
    object === undefined
      ? ''
      : [object.apiVersion, object.kind, object.namespace, object.name].filter((part) => part !== '').join('/')
  const logical = [path, name].filter((part) => part !== '')
  return {
    ruleId: rule,
    ruleIndex: used.indexOf(rule),
    level: severity,
    message: { text: path === '' ? message : `${path}: ${message}` },
    locations: [
      {
        physicalLocation: {
          artifactLocation: file === '-' ? { uri: 'stdin:' } : { uri: uriOf(file) },
          ...(range === undefined
            ? {}
            : {
                region: {
                  startLine: range.line,
                  startColumn: range.column,
                  endLine: range.endLine,
                  endColumn: Math.max(range.endColumn, range.line === range.endLine ? range.column : 1),
                },
              }),
        },
        ...(logical.length === 0
          ? {}
          : {
              logicalLocations: [
                { ...(path === '' ? {} : { name: path }), fullyQualifiedName: logical.reverse().join('#'), kind: 'member' },
              ],
            }),
      },
    ],
  }
}

/** A path relative to the working directory, or a file URL for files outside of it. */
function uriOf(file: string): string {
  const path = isAbsolute(file) ? relative(process.cwd(), file) : file
  if (isAbsolute(path) || path.startsWith('..')) return pathToFileURL(file).href
  return path
    .split(sep)
    .filter((part) => part !== '.')
    .map(encodeURIComponent)
    .join('/')
}
