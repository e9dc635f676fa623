import type { ColorWhen } from '../offline/terminal.ts'

/** Output forms of `krmkit admit`. */
export type ReportForm = 'text' | 'json' | 'yaml'

/** The flags of `krmkit admit`. */
export interface AdmitFlags {
  readonly config: readonly string[]
  readonly enableAdmissionPlugins: readonly string[]
  readonly disableAdmissionPlugins: readonly string[]
  readonly admissionControlConfigFile?: string
  readonly featureGates: Readonly<Record<string, boolean>>
  readonly runtimeConfig: readonly string[]
  readonly as?: string
  readonly asGroup: readonly string[]
  readonly output: ReportForm
  readonly namespace: string
  readonly color: ColorWhen
}
